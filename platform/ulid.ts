// ULIDs at the price of a few microseconds: the library asks the kernel for each of its sixteen random characters, this
// hands it bytes drawn by the page. Every process has its own pool; no byte is used twice.
import { randomFillSync } from 'node:crypto';
import { ulid as makeUlid } from 'ulid';

const pool = Buffer.alloc(4096);
let next = pool.length;

/** @returns 26 characters of Crockford base 32; 80 of its bits are random */
export function ulid(): string {
  return makeUlid(undefined, fraction);
}

/** 256 divides into 32 letters evenly, so one byte makes one fair letter. */
function fraction(): number {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const byte = pool[next] ?? 0;
  next += 1;
  return byte / 256;
}
