import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { routes } from '../../api/routes.ts';
import { errorCatalogue } from '../../domain/errors.ts';
import { createApiClient } from '../support/api-client.ts';
import { startApi, type TestApi } from './app-fixture.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, { responses: Record<string, object> }>>;
  readonly components: { schemas: Record<string, { properties: Record<string, { enum?: string[] }> }> };
  readonly webhooks: object;
}

test('the document is served without a key at both addresses', async () => {
  const client = createApiClient(api.url, '');
  const one = await client.get<Document>('/openapi.json', { key: null });
  const other = await client.get<Document>('/api/v1/openapi.json', { key: null });
  expect([one.status, one.body.openapi]).toEqual([200, '3.1.0']);
  expect(other.text).toBe(one.text);
});

test('every row of the table and every error code is in it', async () => {
  const { body } = await createApiClient(api.url, '').get<Document>('/openapi.json', { key: null });
  for (const route of routes) {
    const operation = body.paths[route.path]?.[route.method.toLowerCase()];
    expect(operation, `${route.method} ${route.path}`).toBeDefined();
    expect(Object.keys(operation?.responses ?? {})).toEqual(expect.arrayContaining(Object.keys(route.responses)));
  }
  expect(body.components.schemas['Error']?.properties['code']?.enum).toEqual(Object.keys(errorCatalogue));
  expect(body.webhooks).toBeDefined();
});

test('it passes redocly lint', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
  const file = join(folder, 'openapi.json');
  writeFileSync(file, (await createApiClient(api.url, '').get('/openapi.json', { key: null })).text);
  const redocly = join(import.meta.dirname, '../../node_modules/.bin/redocly');
  await promisify(execFile)(redocly, ['lint', file], { env: { ...process.env, REDOCLY_TELEMETRY: 'off', CI: 'true' } });
  rmSync(folder, { recursive: true, force: true });
});
