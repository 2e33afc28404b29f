// Asks the workflow that owns an open piece of work to look it up now. It decides nothing: the workflow looks at its rows
// and at the gateway.
import type { DoorSession } from './session-door.ts';

export interface LookUpWork {
  /** `late`: an attempt that is over, of which the gateway says something all the same. */
  readonly kind: 'charge' | 'capture' | 'void' | 'refund' | 'late';
  readonly operationId: string;
  readonly transactionId: string;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly mode: 'test' | 'live';
  readonly amount: number;
  readonly currency: string;
  /** The session whose workflow owns the attempt; null: the payment's own workflow does. */
  readonly session: { readonly id: string; readonly expiresAt: Date } | null;
}

/** `pending`: Temporal was not reached or took too long; the sweep or the work's own schedule makes up for it. */
export type LookUpDoor = (work: LookUpWork) => Promise<'asked' | 'pending'>;

export interface LookUpDoorDeps {
  readonly sessions: { authenticated(session: DoorSession, attemptId: string): Promise<unknown> };
  /** For payments without a page. */
  readonly payments: {
    lookUp(
      payment: { id: string; merchantId: string; merchantName: string; mode: 'test' | 'live'; amount: number; currency: string },
      operation: { kind: Exclude<LookUpWork['kind'], 'late'>; operationId: string; transactionId: string },
    ): Promise<void>;
    compensate(payment: { id: string; merchantId: string; merchantName: string; mode: 'test' | 'live'; amount: number; currency: string }, attemptId: string): Promise<void>;
  } | null;
}

export function createLookUpDoor(deps: LookUpDoorDeps): LookUpDoor {
  return async ({ session, kind, operationId, transactionId, ...payment }) => {
    if (kind === 'late') {
      const { payments } = deps;
      if (payments === null) return 'pending';
      return payments.compensate({ ...payment, id: transactionId }, operationId).then(
        () => 'asked' as const,
        () => 'pending' as const,
      );
    }
    if (session !== null) {
      return (await deps.sessions.authenticated({ ...payment, id: session.id, expiresAt: session.expiresAt }, operationId)) === 'pending' ? 'pending' : 'asked';
    }
    await deps.payments?.lookUp({ ...payment, id: transactionId }, { kind, operationId, transactionId });
    return 'asked';
  };
}
