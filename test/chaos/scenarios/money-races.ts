// R2, R5 and R6 for money without a page: refunds against refunds, a capture against a void, a deactivation against a
// charge, and everything at once. What the sums must be is the checker's to see.
import { untilSettled } from '../endings.ts';
import type { Scenario, ScenarioRun } from '../scenario.ts';
import { describe, isFinal, type KeyedRequest, type Reply, sleep } from '../world.ts';
import { capture, charge, chargeAmountMinor, makePayment, type Payment, refund, voidIt } from './money-requests.ts';

export const refundRaces: Scenario = {
  name: 'r2',
  title: '50 concurrent refunds of 30% each; of 2% each',
  repeats: { usual: 4, full: 100 },
  async run(run) {
    await Promise.all([run.stack.startApi(), run.stack.startWorker()]);
    for (let n = 0; n < run.repeats; n++) {
      await refundsAtOnce(run, 0.3, 3);
      if (n % 4 === 0) await refundsAtOnce(run, 0.02, 50);
    }
  },
};

export const moneyRaces: Scenario = {
  name: 'r5-money',
  title: 'capture x void, deactivate x charge',
  repeats: { usual: 20, full: 200 },
  async run(run) {
    await Promise.all([run.stack.startApi(), run.stack.startWorker()]);
    for (let n = 0; n < run.repeats; n++) {
      await captureAndVoid(run);
      await deactivateAndCharge(run);
    }
  },
};

const mixMs = Number(process.env['CHAOS_MIX_SECONDS'] ?? 60) * 1000;

export const randomMix: Scenario = {
  name: 'r6',
  title: `a random mix of all mutations on 5 payments, 32 callers, ${mixMs / 1000} s (CHAOS_MIX_SECONDS)`,
  repeats: { usual: 1, full: 1 },
  async run(run) {
    await Promise.all([run.stack.startApi(), run.stack.startWorker()]);
    await mix(run);
  },
};

const bodyOf = (reply: Reply): { id?: string; status?: string; code?: string } => JSON.parse(reply.text || '{}') as object;

async function refundsAtOnce({ stack, world, ...run }: ScenarioRun, share: number, most: number): Promise<void> {
  const merchant = world.merchants[0]!;
  const payment = await makePayment(world, merchant, await world.saveCard(merchant));
  const requests = Array.from({ length: 50 }, () => refund(world, payment, chargeAmountMinor * share));
  const replies = await Promise.all(requests.map((request) => world.send(request)));
  const taken = replies.filter((reply) => reply.status === 201);
  if (taken.length !== most) run.fail(`${taken.length} of 50 refunds of ${share * 100}% were taken`);
  for (const reply of replies) if (reply.status !== 201 && ![409, 422].includes(reply.status)) run.fail(`a refund too many was answered ${describe(reply)} ${reply.text.slice(0, 160)}`);
  const settled = await untilSettled(stack, [payment.id], 90_000);
  if (!settled.has(payment.id)) run.fail(`the refunds of ${payment.id} were not settled after 90 s`);
  run.note(`${share * 100}%: ${taken.length} taken, ${taken.filter((reply) => bodyOf(reply).status === 'pending').length} answered pending`);
}

async function captureAndVoid({ stack, world, ...run }: ScenarioRun): Promise<void> {
  const merchant = world.merchants[0]!;
  const payment = await makePayment(world, merchant, await world.saveCard(merchant), { capture: false });
  const [captured, voided] = [capture(world, payment), voidIt(world, payment)];
  const late = (request: KeyedRequest): Promise<Reply> => sleep(run.random() * 12).then(() => world.send(request));
  const [first, second] = await Promise.all([late(captured), late(voided)]);
  const won = [first, second].filter((reply) => reply.status === 200);
  if (won.length !== 1) run.fail(`capture x void of ${payment.id}: ${describe(first)} ${describe(second)}`);
  for (const reply of [first, second]) {
    const { code = '' } = bodyOf(reply);
    if (reply.status !== 200 && !['payment_outcome_pending', 'payment_not_capturable', 'payment_not_voidable'].includes(code)) run.fail(`the loser was answered ${describe(reply)} ${code}`);
  }
  await untilSettled(stack, [payment.id], 30_000);
  const [row] = await stack.query<{ status: string }>('select status from transactions where id = $1', [payment.id]);
  const expected = first.status === 200 ? 'captured' : 'voided';
  if (row?.status !== expected) run.fail(`capture x void: ${expected} was answered, payment ${payment.id} is ${row?.status}`);
  run.note(`capture x void: ${row?.status}`);
}

async function deactivateAndCharge({ stack, world, ...run }: ScenarioRun): Promise<void> {
  const merchant = world.merchants[0]!;
  const token = await world.saveCard(merchant);
  const charged = charge(world, merchant, token);
  const [gone, reply] = await Promise.all([
    // A charge reads before it writes: the deactivation that is to meet it starts a little later.
    sleep(run.random() * 40).then(() => world.send(world.ask(merchant, `/payment-tokens/${token}/deactivate`, {}))),
    world.send(charged),
  ]);
  if (gone.status !== 200) run.fail(`a deactivation was answered ${describe(gone)}`);
  const { code = '' } = bodyOf(reply);
  if (reply.status !== 201 && code !== 'token_inactive') run.fail(`deactivate x charge: ${describe(reply)} ${code}`);
  const [row] = await stack.query<{ n: string }>('select count(*) as n from transactions where payment_token_id = $1', [token]);
  if (Number(row?.n) !== (reply.status === 201 ? 1 : 0)) run.fail(`deactivate x charge: answered ${reply.status}, ${row?.n} payments written`);
  const after = await world.send(charge(world, merchant, token));
  if (bodyOf(after).code !== 'token_inactive') run.fail(`a card deactivated before was charged: ${describe(after)}`);
  run.note(`deactivate x charge: ${reply.status === 201 ? 'charged' : 'refused'}`);
}

/** Callers that repeat themselves under the same key, take what they get, and go on. */
async function mix({ stack, world, ...run }: ScenarioRun): Promise<void> {
  const merchant = world.merchants[0]!;
  const token = await world.saveCard(merchant);
  const payments: Payment[] = [];
  for (let n = 0; n < 5; n++) payments.push(await makePayment(world, merchant, token, { capture: n === 0 }));
  const ids = new Set(payments.map((payment) => payment.id));
  const until = Date.now() + mixMs;
  const caller = async (): Promise<void> => {
    while (Date.now() < until) {
      const at = Math.floor(run.random() * payments.length);
      const payment = payments[at]!;
      const dice = run.random();
      const request =
        dice < 0.35 ? refund(world, payment, 1 + Math.floor(run.random() * 400))
        : dice < 0.4 ? refund(world, payment)
        : dice < 0.6 ? capture(world, payment, run.random() < 0.5 ? null : 1000 + Math.floor(run.random() * 1500))
        : dice < 0.75 ? voidIt(world, payment)
        : charge(world, merchant, token, { capture: run.random() < 0.4 });
      const copies = run.random() < 0.2 ? 2 : 1;
      const replies = await Promise.all(Array.from({ length: copies }, () => world.send(request)));
      for (const reply of replies) {
        const kind = request.path.split('/').at(-1)!;
        const { code = '' } = bodyOf(reply);
        if (reply.status === 0 || reply.status >= 500) run.fail(`${kind} was answered ${describe(reply)} ${reply.text.slice(0, 200)}`);
        run.note(`${kind}: ${reply.status} ${code}`);
      }
      const [reply] = replies;
      // A payment that can do nothing any more gives its place to a new one.
      if (reply !== undefined && request.path.endsWith('/charge-token') && isFinal(reply) && reply.status === 201) {
        const id = bodyOf(reply).id!;
        ids.add(id);
        payments[at] = { id, merchant };
      }
    }
  };
  await Promise.all(Array.from({ length: 32 }, caller));
  const settled = await untilSettled(stack, [...ids], 90_000);
  if (settled.size < ids.size) run.fail(`${ids.size - settled.size} of ${ids.size} payments were not settled 90 s after the mix`);
}
