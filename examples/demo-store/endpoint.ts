// The store's webhook endpoint at the service: registered on the first run, its secret kept in a file of its own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PaymentApi } from './api.ts';
import { writeWhole } from './state-file.ts';

interface KeptEndpoint {
  readonly id: string;
  readonly secret: string;
  readonly url: string;
  readonly apiUrl: string;
}

/**
 * The signing secret of the endpoint this store registered earlier, if the service still has it; else of one it
 * registers now.
 */
export async function ensureEndpoint(api: PaymentApi, where: { folder: string; apiUrl: string; webhookUrl: string }): Promise<string> {
  const file = join(where.folder, 'webhook.json');
  const kept = read(file);
  if (kept?.url === where.webhookUrl && kept.apiUrl === where.apiUrl && (await api.hasEndpoint(kept.id))) return kept.secret;
  const { id, secret } = await api.registerEndpoint(where.webhookUrl);
  writeWhole(file, { id, secret, url: where.webhookUrl, apiUrl: where.apiUrl } satisfies KeptEndpoint);
  return secret;
}

function read(file: string): KeptEndpoint | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as KeptEndpoint;
  } catch {
    return null;
  }
}
