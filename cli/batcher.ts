// Collects small marks and writes them together, off everybody's path. Only for marks that may be lost in a crash.

export interface Batcher<Item> {
  add(item: Item): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

const everyMs = 200;
const maxItems = 256;

export function createBatcher<Item>(write: (items: readonly Item[]) => Promise<void>, onError: (error: unknown) => void): Batcher<Item> {
  let items: Item[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const batch = items;
    items = [];
    if (batch.length > 0) writing = writing.then(() => write(batch)).catch(onError);
  };
  return {
    add(item) {
      items.push(item);
      if (items.length >= maxItems) flush();
      else timer ??= setTimeout(flush, everyMs);
    },
    async close() {
      flush();
      await writing;
    },
  };
}
