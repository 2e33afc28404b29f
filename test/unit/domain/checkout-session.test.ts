import { describe, expect, it } from 'vitest';
import { expiresInMinutes, isTerminal, sessionStatuses, sessionTransitions, visibleStatus } from '../../../domain/checkout-session.ts';
import { operationStatuses, operationTransitions } from '../../../domain/payment-operation.ts';
import { refundStatuses, refundTransitions } from '../../../domain/refund.ts';
import { statusesBefore, transactionStatuses, transactionTransitions } from '../../../domain/transaction.ts';

const expiresAt = new Date('2026-11-21T12:00:00.000Z');
const at = (offsetMs: number): Date => new Date(expiresAt.getTime() + offsetMs);

describe('a session as it is read', () => {
  it('is open to the last millisecond and expired from the end on', () => {
    const session = { status: 'open', expiresAt, attemptInFlight: false } as const;
    expect(visibleStatus(session, at(-1))).toBe('open');
    expect(visibleStatus(session, at(0))).toBe('expired');
  });

  it('stays open while an attempt is in flight, however late', () => {
    expect(visibleStatus({ status: 'open', expiresAt, attemptInFlight: true }, at(3_600_000))).toBe('open');
  });

  it('is what it became, however late', () => {
    for (const status of sessionStatuses.filter(isTerminal)) expect(visibleStatus({ status, expiresAt, attemptInFlight: false }, at(3_600_000))).toBe(status);
  });

  it('lives from one minute to a day, half an hour by default', () => {
    expect(expiresInMinutes).toEqual({ min: 1, max: 1440, default: 30 });
  });
});

describe('the state tables', () => {
  it('never lead out of a terminal session', () => {
    expect(sessionTransitions.filter((move) => isTerminal(move.from))).toEqual([]);
    expect(sessionStatuses.filter(isTerminal).sort()).toEqual(sessionTransitions.map((move) => move.to).sort());
  });

  it('name no move twice', () => {
    for (const table of [sessionTransitions, transactionTransitions, operationTransitions, refundTransitions]) {
      const moves = table.map((move) => `${move.from} → ${move.to}`);
      expect(new Set(moves).size).toBe(moves.length);
    }
  });

  it('reach every status of a capture, a void and a refund', () => {
    const reachable = (start: string, moves: readonly { from: string; to: string }[]): string[] => {
      const reached = new Set([start]);
      for (const from of reached) for (const move of moves) if (move.from === from) reached.add(move.to);
      return [...reached].sort();
    };
    expect(reachable('requested', operationTransitions)).toEqual([...operationStatuses].sort());
    expect(reachable('pending', refundTransitions)).toEqual([...refundStatuses].sort());
  });

  it('reach every payment status from pending, and refunds only from money taken', () => {
    const reached = new Set<string>(['pending']);
    for (const from of reached) for (const move of transactionTransitions) if (move.from === from) reached.add(move.to);
    expect([...reached].sort()).toEqual([...transactionStatuses].sort());
    expect(statusesBefore('refunded')).toEqual(['captured', 'partially_refunded']);
    // Money that was taken is given back by a refund, never by a void.
    expect(statusesBefore('voided')).toContain('authorized');
    expect(statusesBefore('voided')).not.toContain('captured');
    expect(statusesBefore('captured')).not.toContain('failed');
    expect(statusesBefore('pending')).toEqual([]);
  });
});
