// `npm run demo-store`: reads the environment, or what `npm start` left in its data folder, and opens the store.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startStore } from './store.ts';

const { STORE_PORT = '4000', STORE_API_URL, STORE_API_KEY, STORE_WEBHOOK_SECRET, DATA_DIR = '.data' } = process.env;

/** What a running `npm start` says of itself; nothing when there is none. */
function readRuntime(): { api_url?: string; demo?: { test_key?: string } | null } {
  try {
    return JSON.parse(readFileSync(join(DATA_DIR, 'runtime.json'), 'utf8')) as { api_url?: string; demo?: { test_key?: string } | null };
  } catch {
    return {};
  }
}

const runtime = readRuntime();
const apiKey = STORE_API_KEY ?? runtime.demo?.test_key;

try {
  if (apiKey === undefined) throw new Error('No API key. Run `npm start` first, or set STORE_API_KEY.');
  const store = await startStore({
    port: Number(STORE_PORT),
    apiUrl: (STORE_API_URL ?? runtime.api_url ?? 'http://localhost:3000').replace(/\/api\/v1\/?$/, ''),
    apiKey,
    folder: join(DATA_DIR, 'demo-store'),
    ...(STORE_WEBHOOK_SECRET === undefined ? {} : { webhookSecret: STORE_WEBHOOK_SECRET }),
    log: (line) => console.log(line),
  });
  console.log(`The demo store is open at ${store.url}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void store.close());
} catch (error) {
  console.error(`The demo store cannot open: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
