// The append-only file behind the simulator: JSON lines, on disk before an answer leaves. Many concurrent appends share
// one fsync. It knows nothing of what the lines mean.
import { closeSync, existsSync, fdatasync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface LedgerFile {
  /** Queues one line. It is durable once a later `settled()` has resolved. */
  append(line: unknown): void;
  /** Resolves when everything appended so far is on disk; at once when it is already. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the file, hands every line in it to `replay` and cuts off a torn last line (a kill in the middle of a write).
 * A broken line anywhere else is an error. `onFault` is called when the disk refuses a write: memory is then ahead of
 * the file, so the only honest thing left is to stop.
 */
export function openLedgerFile(path: string, replay: (line: unknown) => void, onFault: (error: Error) => void): LedgerFile {
  mkdirSync(dirname(path), { recursive: true });
  const isNew = !existsSync(path);
  const file = openSync(path, 'a+', 0o600);
  if (isNew) syncFolder(dirname(path));
  else replayLines(file, path, replay);

  let waiting = '';
  let waitingDone: Deferred | null = null;
  let flushing: Deferred | null = null;

  function flush(): void {
    if (flushing !== null || waitingDone === null) return;
    const batch = Buffer.from(waiting, 'utf8');
    const done = waitingDone;
    waiting = '';
    waitingDone = null;
    flushing = done;
    try {
      for (let written = 0; written < batch.length; ) written += writeSync(file, batch, written);
    } catch (error) {
      onFault(error as Error);
      return;
    }
    fdatasync(file, (error) => {
      flushing = null;
      if (error) return onFault(error);
      done.resolve();
      flush();
    });
  }

  return {
    append(line) {
      waiting += `${JSON.stringify(line)}\n`;
      if (waitingDone !== null) return;
      waitingDone = deferred();
      // One turn of the event loop later, so that requests that arrived together share the fsync.
      setImmediate(flush);
    },
    settled() {
      return waitingDone?.promise ?? flushing?.promise ?? Promise.resolve();
    },
    async close() {
      await this.settled();
      closeSync(file);
    },
  };
}

function replayLines(file: number, path: string, replay: (line: unknown) => void): void {
  const content = readFileSync(path);
  const end = content.lastIndexOf(0x0a) + 1;
  if (end < content.length) {
    ftruncateSync(file, end);
    fsyncSync(file);
  }
  let line = 0;
  for (const text of content.toString('utf8', 0, end).split('\n')) {
    line += 1;
    if (text === '') continue;
    try {
      replay(JSON.parse(text));
    } catch {
      throw new Error(`the ledger ${path} is broken at line ${line}: move it away to begin a new one`);
    }
  }
}

/** A new file survives a power cut only once its folder is on disk too. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function deferred(): Deferred {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
