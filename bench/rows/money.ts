// Payments without a page: charge a saved card, refund, capture, void, and read the record. The first four beside a
// workflow that is started eagerly, runs one local activity and is waited for.
import type { Http } from '../http.ts';
import type { Comparison, Side } from '../rounds.ts';
import type { SeededMerchant } from '../seed.ts';
import { newFloorId, type Shop } from '../shop.ts';
import { perCallers, raw, type RowParts, side } from './sides.ts';

interface Holder {
  readonly merchant: SeededMerchant;
  readonly tokenId: string;
}

interface Paid {
  readonly merchant: SeededMerchant;
  readonly id: string;
}

/** Merchants with a saved card: enough keys for every limit. */
const holderCount = 200;

export function moneyRows({ shop, floor }: RowParts): readonly Comparison[] {
  const till = openTill(shop);
  const move = (name: string, title: string, ours: Side): Comparison => ({
    name,
    title,
    ours,
    floors: [{ side: raw(floor, 'raw eager start, local activity, awaited', ['money']), goal: 0.85 }],
    cpuGoal: null,
    count: perCallers(60, 250),
  });
  return [
    paymentRow(till, shop, floor),
    move('charge', 'POST /charge-token', side('ours', till.holders, (holder) => till.charge(holder, true).then(() => undefined))),
    move('refund', 'refund, full', side('ours', (count) => till.stock(count, true), ({ merchant, id }) => expectStatus(shop.call(merchant, `/payments/${id}/refund`, {}, 201), 'succeeded'))),
    move('capture', 'capture, full', side('ours', (count) => till.stock(count, false), ({ merchant, id }) => expectStatus(shop.call(merchant, `/payments/${id}/capture`, {}, 200), 'captured'))),
    move('void', 'void', side('ours', (count) => till.stock(count, false), ({ merchant, id }) => expectStatus(shop.call(merchant, `/payments/${id}/void`, {}, 200), 'voided'))),
  ];
}

function paymentRow(till: Till, shop: Shop, floor: Http): Comparison {
  let known: Paid[] = [];
  const some = async (count: number): Promise<Paid[]> => {
    if (known.length === 0) known = await till.stock(200, true);
    return Array.from({ length: count }, (_, index) => known[index % known.length] as Paid);
  };
  const reading = (name: string, act: string): Side => side(name, some, async ({ id, merchant }) => void (await floor.get(`/${act}/${id}/${merchant.id}`)));
  return {
    name: 'payment',
    title: 'GET payment',
    ours: side('ours', some, async ({ id, merchant }) => void (await shop.call(merchant, `/payments/${id}`, null, 200))),
    floors: [{ side: reading('bare Koa, same SELECT', 'payment'), goal: 0.5 }, { side: reading('bare Koa, Knex', 'paymentknex'), goal: 1 }],
    cpuGoal: null,
    count: perCallers(1000, 4000),
  };
}

interface Till {
  /** So many saved cards, in turn. */
  holders(count: number): Promise<Holder[]>;
  charge(holder: Holder, capture: boolean): Promise<Paid>;
  /** So many payments, made eight at a time. */
  stock(count: number, capture: boolean): Promise<Paid[]>;
}

function openTill(shop: Shop): Till {
  let saved: Holder[] = [];
  let turn = 0;
  const card = { number: '4242424242424242', expiry_month: 12, expiry_year: 2040, cvc: '123' };
  const till: Till = {
    async holders(count) {
      if (saved.length === 0) {
        const merchants = Array.from({ length: holderCount }, () => shop.merchant('plain'));
        saved = await eightAtATime(merchants, async (merchant) => ({ merchant, tokenId: String((await shop.call(merchant, '/tokenize', { card }, 201))['id']) }));
      }
      return Array.from({ length: count }, () => saved[turn++ % saved.length] as Holder);
    },
    async charge({ merchant, tokenId }, capture) {
      const body = await shop.call(merchant, '/charge-token', { token_id: tokenId, amount: 2500, currency: 'USD', capture, metadata: { order: newFloorId() } }, 201);
      return { merchant, id: String(body['id']) };
    },
    stock: async (count, capture) => eightAtATime(await till.holders(count), (holder) => till.charge(holder, capture)),
  };
  return till;
}

async function eightAtATime<Item, Made>(items: readonly Item[], make: (item: Item) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  for (let n = 0; n < items.length; n += 8) made.push(...(await Promise.all(items.slice(n, n + 8).map(make))));
  return made;
}

/** A status other than the wanted one is an error of the row: it would be another, shorter path. */
async function expectStatus(answer: Promise<Record<string, unknown>>, wanted: string): Promise<void> {
  const { status } = await answer;
  if (status !== wanted) throw new Error(`status ${String(status)}, not ${wanted}`);
}
