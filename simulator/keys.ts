// The simulator's own key, made once per ledger and kept beside it, and what is derived from it: card fingerprints and
// the unguessable part of challenge addresses. Random ids come from here too.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Keys {
  /** Equal for equal numbers at one gateway, also after a restart. */
  fingerprint(gateway: string, number: string): string;
  challengeToken(chargeId: string): string;
}

export function loadKeys(ledgerPath: string): Keys {
  const path = `${ledgerPath}.key`;
  if (!existsSync(path)) writeKey(path);
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'hex');
  if (key.length !== 32) throw new Error(`${path} does not hold a key of 32 bytes`);
  const mac = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  return {
    fingerprint: (gateway, number) => `simfp_${mac(`fingerprint ${gateway} ${number}`).slice(0, 24)}`,
    challengeToken: (chargeId) => mac(`challenge ${chargeId}`).slice(0, 32),
  };
}

export function randomId(prefix: string): string {
  return prefix + randomBytes(15).toString('hex');
}

export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Written aside and renamed, so that a kill never leaves half a key. */
function writeKey(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(`${path}.new`, 'w', 0o600);
  writeSync(file, `${randomBytes(32).toString('hex')}\n`);
  fsyncSync(file);
  closeSync(file);
  renameSync(`${path}.new`, path);
}
