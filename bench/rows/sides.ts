// What rows are made of: the parties that are asked, and the two sides of a comparison.
import type { Http } from '../http.ts';
import type { BenchReceiver } from '../receiver.ts';
import type { Side } from '../rounds.ts';
import { newFloorId, type Shop } from '../shop.ts';

export interface RowParts {
  readonly shop: Shop;
  /** The floor's server. */
  readonly floor: Http;
  readonly receiver: BenchReceiver;
}

/** By callers: enough for a second or two, so that the start of a slice does not count. */
export const perCallers = (one: number, many: number) => (callers: number): number => (callers === 1 ? one : many);

export function raw(floor: Http, name: string, acts: readonly string[]): Side {
  return side(
    name,
    async (count) => Array.from({ length: count }, newFloorId),
    async (id) => {
      for (const act of acts) await floor.post(`/${act}/${id}`, '', {}, 200);
    },
  );
}

/** The rounds handle sides of every item alike. */
export function side<Item>(name: string, prepare: (count: number) => Promise<Item[]>, operate: (item: Item) => Promise<void>): Side {
  return { name, prepare, operate: (item) => operate(item as Item) };
}
