// Money on a payment without a page: charge a saved card, capture, void, refund. One step in one local activity; what its
// answer leaves open is looked up until it is known. And the authorisation that nobody captured.
import { condition, defineUpdate, proxyActivities, proxyLocalActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { PaymentActivities } from '../activities/payment.ts';
import { type LapseInput, lookUpUpdate, type MoneyInput, type MoneyResult } from '../temporal/contract.ts';
import { release, sleepUntil } from './clock.ts';

export const lookUp = defineUpdate<MoneyResult, []>(lookUpUpdate);

// The claim, a gateway that takes four seconds at most, and the settling fit one workflow task.
const money = proxyLocalActivities<PaymentActivities>({
  startToCloseTimeout: '6s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
});
const gateway = proxyActivities<PaymentActivities>({
  startToCloseTimeout: '40s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

export const chargePayment = (input: MoneyInput): Promise<string> => carryOut(input);
export const capturePayment = (input: MoneyInput): Promise<string> => carryOut(input);
export const voidPayment = (input: MoneyInput): Promise<string> => carryOut(input);
export const refundPayment = (input: MoneyInput): Promise<string> => carryOut(input);

/** In the task when the gateway is quick enough for one, else as an activity of its own. */
async function perform(input: MoneyInput): Promise<MoneyResult> {
  const step = await money.performOperation(input);
  return step.state === 'slow' ? gateway.sendOperation({ ...input, resumed: step.resumed }) : step;
}

async function carryOut(input: MoneyInput): Promise<string> {
  const asked: { result?: MoneyResult }[] = [];
  setHandler(lookUp, async () => {
    const question: { result?: MoneyResult } = {};
    asked.push(question);
    await condition(() => question.result !== undefined);
    return question.result as MoneyResult;
  });
  let result = await perform(input);
  for (;;) {
    if (result.state === 'waiting') {
      setCurrentDetails(result.why === 'unknown' ? "The gateway's answer is not known yet; it is looked up until it is." : 'The gateway still works on it.');
      await sleepUntil(result.nextLookAtMs, () => asked.length > 0);
      result = await gateway.lookUpOperation(input);
    }
    for (const question of asked.splice(0)) question.result = result;
    if (result.state === 'settled' && (await release(() => asked.length > 0))) return result.outcome;
  }
}

/** Started with a delay of seven days: voids the authorisation if it still is one. */
export async function lapseAuthorization(input: LapseInput): Promise<string> {
  await sleepUntil(input.lapsesAtMs, () => false);
  for (;;) {
    const begun = await money.beginLapse(input);
    if (begun.state === 'over') return begun.status;
    if (begun.state === 'busy') {
      // A capture or void is under way: look again when it has had time to be settled.
      await sleepUntil(begun.nextLookAtMs, () => false);
      continue;
    }
    let result = await perform(begun.operation);
    while (result.state === 'waiting') {
      await sleepUntil(result.nextLookAtMs, () => false);
      result = await gateway.lookUpOperation(begun.operation);
    }
    if (result.outcome === 'succeeded') return 'expired';
    await sleepUntil(begun.againAtMs, () => false);
  }
}
