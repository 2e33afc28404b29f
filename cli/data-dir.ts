// DATA_DIR: one running service each, the master key made once, and small JSON files that only the owner may read.
// Written so that a reader sees the old file or the new one, never half of one.
import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { masterKeyFile } from '../platform/config.ts';
import { birthMarkOf } from './process-table.ts';

/** Makes the folder. Others may walk through it (Postgres' own user must), never list it. */
export function makeDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  // An existing one that everybody may read is closed: its files are private one by one, but names tell something too.
  if ((statSync(dataDir).mode & 0o066) !== 0 && statSync(dataDir).uid === process.getuid?.()) chmodSync(dataDir, 0o711);
}

/**
 * Takes the folder for this process. A lock whose process is gone, or whose pid belongs to another program by now, is
 * taken over.
 * @returns what gives it back
 * @throws Error in one line when another service runs on this folder
 */
export function lockDataDir(dataDir: string): () => void {
  const file = join(dataDir, 'lock');
  const mine = join(dataDir, `lock.${process.pid}`);
  writePrivately(mine, { pid: process.pid, born: birthMarkOf(process.pid) });
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      try {
        // A link is made by one process only, with its content in it from the first moment.
        linkSync(mine, file);
        return () => rmSync(file, { force: true });
      } catch {
        const holder = readPrivate<{ pid: number; born: string | null }>(file);
        if (holder !== null && holder.born !== null && birthMarkOf(holder.pid) === holder.born) {
          throw new Error(`DATA_DIR ${dataDir} is in use by a service that is running (process ${holder.pid}): stop it, or set DATA_DIR to another folder.`);
        }
        rmSync(file, { force: true });
      }
    }
    throw new Error(`DATA_DIR ${dataDir} cannot be locked.`);
  } finally {
    rmSync(mine, { force: true });
  }
}

/** The key of this folder, made the first time; 256 random bits. */
export function keepMasterKey(dataDir: string): string {
  const file = masterKeyFile(dataDir);
  if (!existsSync(file)) writeText(file, `${randomBytes(32).toString('base64url')}\n`);
  return readFileSync(file, 'utf8').trim();
}

/** A secret of this folder that is made the first time and stays. */
export function keepSecret(dataDir: string, name: string): string {
  const file = join(dataDir, name);
  if (!existsSync(file)) writeText(file, `${randomBytes(24).toString('base64url')}\n`);
  return readFileSync(file, 'utf8').trim();
}

export function writePrivately(file: string, value: unknown): void {
  writeText(file, `${JSON.stringify(value, null, 2)}\n`);
}

/** null when it is not there or not whole. */
export function readPrivate<Value>(file: string): Value | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Value;
  } catch {
    return null;
  }
}

function writeText(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.new`;
  const fd = openSync(temporary, 'w', 0o600);
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, file);
}
