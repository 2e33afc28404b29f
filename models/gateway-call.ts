// Marks of calls to gateways on the attempts they belong to.
import type { Database, Statement } from './database.ts';

const sentAgainStatement: Statement = {
  name: 'mark-charge-sent-again',
  text: `update payment_attempts set sent_at = clock_timestamp() where id = $1 and status in ('claimed', 'unknown') returning id`,
};

/**
 * Before a charge is sent again under the same key: "not found" counts from the last send.
 * @returns false when the attempt was settled meanwhile: then it must not be sent
 */
export async function markSentAgain(db: Database, attemptId: string): Promise<boolean> {
  return (await db.runAlone(sentAgainStatement, [attemptId])).length > 0;
}

const sentAgainStatements = {
  charge: sentAgainStatement,
  authorization: {
    name: 'mark-operation-sent-again',
    text: `update payment_operations set sent_at = clock_timestamp() where id = $1 and status in ('claimed', 'unknown') returning id`,
  },
  refund: { name: 'mark-refund-sent-again', text: `update refunds set sent_at = clock_timestamp() where id = $1 and step in ('claimed', 'unknown') returning id` },
} as const satisfies Record<string, Statement>;

/** The same for the operations that need no page. @returns false when it was settled meanwhile: then it must not be sent */
export async function markOperationSentAgain(db: Database, kind: keyof typeof sentAgainStatements, id: string): Promise<boolean> {
  return (await db.runAlone(sentAgainStatements[kind], [id])).length > 0;
}
