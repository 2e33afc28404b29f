// The one shape of every operation at a gateway: claim, send, settle; run again after a crash, look up before sending. What
// is claimed, sent and settled is the operation's own.
import type { MoneyResult, TooSlowForATask } from '../temporal/contract.ts';

/** Where an operation stands: written, on its way or cut off on it, waiting for a look-up, over. */
export type Stage = 'requested' | 'sent' | 'waiting' | 'over';

export interface OperationSteps<Context, Outcome extends { readonly kind: string }> {
  claim(id: string): Promise<{ claimed: boolean; context: Context }>;
  read(id: string): Promise<Context>;
  stage(context: Context): Stage;
  /** Whether its gateway is quick enough for a workflow task. */
  fitsATask(context: Context): boolean;
  send(context: Context): Promise<Outcome>;
  lookUp(context: Context): Promise<Outcome | { readonly kind: 'not_found' }>;
  lookups(context: Context): number;
  /** @returns false when it was settled meanwhile: then it must not be sent */
  markSentAgain(id: string): Promise<boolean>;
  settle(context: Context, outcome: Outcome | { readonly kind: 'not_found' }, facts: { lookups: number; mayHaveBeenSent: boolean }): Promise<MoneyResult>;
  /** How it stands by its row. */
  result(context: Context): MoneyResult;
}

export interface MoneySteps {
  perform(id: string): Promise<MoneyResult | TooSlowForATask>;
  /** The rest of `perform` for a slow gateway. */
  sendClaimed(id: string, resumed: boolean): Promise<MoneyResult>;
  lookUp(id: string): Promise<MoneyResult>;
}

export function moneySteps<Context, Outcome extends { readonly kind: string }>(operation: OperationSteps<Context, Outcome>): MoneySteps {
  const settleSent = async (context: Context): Promise<MoneyResult> =>
    operation.settle(context, await operation.send(context), { lookups: 0, mayHaveBeenSent: false });

  const resume = async (id: string, context: Context): Promise<MoneyResult> => {
    const found = await operation.lookUp(context);
    if (found.kind !== 'not_found') return operation.settle(context, found, { lookups: rungs(operation.lookups(context), found), mayHaveBeenSent: true });
    // An earlier run that is not dead after all may have settled it while the gateway was asked.
    if (!(await operation.markSentAgain(id))) return operation.result(await operation.read(id));
    const current = await operation.read(id);
    return operation.settle(current, await operation.send(current), { lookups: operation.lookups(current), mayHaveBeenSent: true });
  };

  const perform = async (id: string): Promise<MoneyResult | TooSlowForATask> => {
    const { claimed, context } = await operation.claim(id);
    if (operation.stage(context) !== 'sent') return operation.result(context);
    if (!operation.fitsATask(context)) return { state: 'slow', resumed: !claimed };
    return claimed ? settleSent(context) : resume(id, context);
  };

  return {
    perform,
    async sendClaimed(id, resumed) {
      const context = await operation.read(id);
      if (operation.stage(context) !== 'sent') return operation.result(context);
      return resumed ? resume(id, context) : settleSent(context);
    },
    async lookUp(id) {
      const context = await operation.read(id);
      const stage = operation.stage(context);
      // Nobody has begun it: its workflow was lost before its first step. There is nothing to look up yet.
      if (stage === 'requested' || stage === 'over') return operation.result(context);
      const outcome = await operation.lookUp(context);
      return operation.settle(context, outcome, { lookups: rungs(operation.lookups(context), outcome), mayHaveBeenSent: true });
    },
  };
}

/** A look-up that got an answer uses a rung of the ladder, one that reached nobody does not. */
export function rungs(lookups: number, outcome: { readonly kind: string }): number {
  return lookups + (outcome.kind === 'unreached' || outcome.kind === 'unknown' ? 0 : 1);
}
