// R1: fifty pay forms of one session at once. Exactly one charge, and every customer is led to the same end.
import type { Scenario } from '../scenario.ts';
import { cards, describe, leadsTo } from '../world.ts';
import { untilEnded } from '../endings.ts';

const callers = 50;

export const payRaces: Scenario = {
  name: 'r1',
  title: '50 concurrent pays of one session',
  repeats: { usual: 5, full: 100 },
  async run({ stack, world, repeats, ...run }) {
    await Promise.all([stack.startApi(), stack.startWorker()]);
    for (let n = 0; n < repeats; n++) {
      const session = await world.createSession();
      const form = await world.openForm(session, cards.good);
      if (form === null) return run.fail('the page has no form');
      const replies = await Promise.all(Array.from({ length: callers }, () => world.post(session, 'pay', form)));
      const odd = replies.filter((reply) => reply.status !== 303);
      if (odd.length > 0) run.fail(`${odd.length} of ${callers} pays gave ${describe(odd[0]!)}`);
      const missed = replies.filter((reply) => leadsTo.failure(reply) || leadsTo.cancelled(reply));
      if (missed.length > 0) run.fail(`${missed.length} customers of a paid session were sent to ${describe(missed[0]!)}`);
      const ended = await untilEnded(stack, [session.id], 30_000);
      if (!ended.has(session.id)) run.fail(`session ${session.id} had not ended 30 s after 50 pays`);
    }
  },
};
