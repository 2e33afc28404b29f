// The rows that have a denominator: reliability goals, section 4. Each says what ours does, what the floor does, and the
// ratio that is wanted.
import type { Comparison, Side } from '../rounds.ts';
import { newFloorId, type OpenSession, type Shop } from '../shop.ts';
import { moneyRows } from './money.ts';
import { perCallers, raw, type RowParts, side } from './sides.ts';

export function comparedRows(parts: RowParts): readonly Comparison[] {
  return [getRow(parts), createRow(parts), payRow(parts), checkoutRow(parts), hookedRow(parts), ...moneyRows(parts)];
}

function getRow({ shop, floor }: RowParts): Comparison {
  let known: OpenSession[] = [];
  const some = async (count: number): Promise<OpenSession[]> => {
    if (known.length === 0) known = await shop.stock(400, 'plain');
    return Array.from({ length: count }, (_, index) => known[index % known.length] as OpenSession);
  };
  const reading = (name: string, act: string): Side => side(name, some, async ({ id, merchant }) => void (await floor.get(`/${act}/${id}/${merchant.id}`)));
  return {
    name: 'get',
    title: 'GET session',
    ours: side('ours', some, (session) => shop.read(session)),
    floors: [{ side: reading('bare Koa, same SELECT', 'get'), goal: 0.5 }, { side: reading('bare Koa, Knex', 'knex'), goal: 1 }],
    cpuGoal: null,
    count: perCallers(1000, 4000),
  };
}

function createRow({ shop, floor }: RowParts): Comparison {
  return {
    name: 'create',
    title: 'POST /checkout-sessions, workflow started',
    ours: side('ours', merchants(shop, 'plain'), async (merchant) => void (await shop.create(merchant))),
    floors: [
      { side: raw(floor, 'raw delayed start', ['start']), goal: 0.8 },
      // What the summary and the search attributes cost that operators read in the UI.
      { side: raw(floor, 'raw start with summary and attributes', ['described']), goal: null },
    ],
    cpuGoal: null,
    count: perCallers(200, 600),
  };
}

function payRow({ shop, floor }: RowParts): Comparison {
  const started = async (count: number): Promise<string[]> => {
    const ids = Array.from({ length: count }, newFloorId);
    for (let n = 0; n < count; n += 16) await Promise.all(ids.slice(n, n + 16).map((id) => floor.post(`/start/${id}`, '', {}, 200)));
    return ids;
  };
  return {
    name: 'pay',
    title: 'pay, simulator at 0 ms',
    ours: side('ours', (count) => shop.stock(count, 'plain'), (session) => shop.pay(session)),
    floors: [{ side: side('raw update, local activity', started, async (id) => void (await floor.post(`/update/${id}`, '', {}, 200))), goal: 0.85 }],
    cpuGoal: null,
    count: perCallers(60, 250),
  };
}

function checkoutRow({ shop, floor }: RowParts): Comparison {
  return {
    name: 'checkout',
    title: 'create + pay, one after the other',
    ours: side('ours', merchants(shop, 'plain'), async (merchant) => shop.pay(await shop.create(merchant))),
    floors: [{ side: raw(floor, 'raw start, then update', ['start', 'update']), goal: 0.85 }],
    cpuGoal: 1.25,
    count: perCallers(50, 250),
  };
}

function hookedRow({ shop, floor, receiver }: RowParts): Comparison {
  let expected = 0;
  const prepare = async (count: number) => {
    receiver.clear();
    expected = count * 3;
    return merchants(shop, 'hooked')(count);
  };
  const ours = {
    ...side('ours', prepare, async (merchant) => shop.pay(await shop.create(merchant))),
    finish: () => receiver.until(expected, 60_000),
  };
  return {
    name: 'hooked',
    title: 'create + pay, three webhooks each delivered',
    ours,
    floors: [{ side: raw(floor, 'raw start, then update', ['start', 'update']), goal: 0.75 }],
    cpuGoal: null,
    count: perCallers(50, 250),
  };
}

const merchants = (shop: Shop, kind: 'plain' | 'hooked') => async (count: number) => Array.from({ length: count }, () => shop.merchant(kind));
