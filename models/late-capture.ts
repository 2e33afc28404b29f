// Charges that turned out captured after their payment was over without them, and the record of their compensation. The
// payment keeps its state and its sums: the money came and went beside it.
import { camelRow } from './base.ts';
import type { Database, Statement } from './database.ts';
import { paymentColumns, type PaymentRow } from './payment-row.ts';

/** An attempt that ended without money, and its payment. */
export interface EndedAttempt extends PaymentRow {
  readonly attemptId: string;
  readonly gatewayKey: string;
}

const ended = `a.status in ('declined', 'unreached', 'cancelled', 'refused')`;

const readStatement: Statement = {
  name: 'read-ended-attempt',
  text: `select ${paymentColumns}, a.id as attempt_id, a.gateway_key
    from payment_attempts a join transactions t on t.id = a.transaction_id join merchants m on m.id = t.merchant_id where a.id = $1 and ${ended}`,
};

/** Unscoped: for the workflow that compensates. Null when the attempt is open or was approved. */
export async function readEndedAttempt(db: Database, attemptId: string): Promise<EndedAttempt | null> {
  const [row] = await db.run<object>(readStatement, [attemptId]);
  return row === undefined ? null : camelRow<EndedAttempt>(row);
}

const recordStatement: Statement = {
  name: 'record-compensation',
  text: `
    with payment as (select id, merchant_id, mode, refunds_count from transactions where id = $2 for update),
    refund as (
      insert into refunds (id, transaction_id, merchant_id, mode, amount, currency, status, step, type, reason, receipt_number, gateway_refund_id, gateway_key, n,
        created_at, sent_at, completed_at)
      select $1, id, merchant_id, mode, $3, $4, 'succeeded', 'settled', 'full', 'late_capture', $5, $6, $7, refunds_count + 1,
        clock_timestamp(), clock_timestamp(), clock_timestamp()
      from payment on conflict (gateway_key) do nothing returning transaction_id
    )
    update transactions t set refunds_count = t.refunds_count + 1, updated_at = clock_timestamp() from refund r where t.id = r.transaction_id`,
};

/** Shows the compensation in the payment's refunds, once, without touching its sums. */
export async function recordCompensation(
  db: Database,
  compensation: { id: string; transactionId: string; amountMinor: number; currency: string; receiptNumber: string; gatewayRefundId: string; gatewayKey: string },
): Promise<void> {
  const { id, transactionId, amountMinor, currency, receiptNumber, gatewayRefundId, gatewayKey } = compensation;
  await db.runAlone(recordStatement, [id, transactionId, amountMinor, currency, receiptNumber, gatewayRefundId, gatewayKey]);
}
