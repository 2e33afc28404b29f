// The least a durable payment can be: a workflow that waits for one update, runs one local activity and closes.
import { condition, defineUpdate, proxyLocalActivities, setHandler } from '@temporalio/workflow';

const { touch } = proxyLocalActivities<{ touch(input: { attemptId: string }): Promise<{ state: string }> }>({ startToCloseTimeout: '6s' });

export const payUpdate = defineUpdate<{ state: string }, [{ attemptId: string }]>('pay');

export async function floorSession(_input: { sessionId: string; expiresAtMs: number }): Promise<string> {
  let paid = false;
  setHandler(payUpdate, async (command) => {
    const result = await touch(command);
    paid = true;
    return result;
  });
  await condition(() => paid);
  return 'completed';
}

/** The least a durable step with an answer can be. */
export const floorMoney = (input: { attemptId: string }): Promise<{ state: string }> => touch(input);
