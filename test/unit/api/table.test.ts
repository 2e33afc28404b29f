import { describe, expect, it } from 'vitest';
import type { Method, Route } from '../../../api/route.ts';
import { compileTable, hasPlausibleIds } from '../../../api/table.ts';

const row = (method: Method, path: string, ids: Route['ids'] = {}): Route =>
  ({ method, path, ids, tier: 'writes', takesKeyItself: false, idempotent: false, operationId: path, summary: '', tag: '', responses: {}, errors: [], foreign: 'none', handler: async () => ({ status: 200, body: '' }) });
const table = compileTable([row('GET', '/a'), row('POST', '/a'), row('GET', '/a/{id}', { id: 'session' }), row('POST', '/a/{id}/expire', { id: 'session' }), row('GET', '/a/fixed'), row('GET', '/t/{text}', { text: 'text' })]);

describe('finding a route', () => {
  it.each([['GET', '/a', '/a'], ['HEAD', '/a', '/a'], ['GET', '/a/fixed', '/a/fixed'], ['GET', '/a/x', '/a/{id}'], ['POST', '/a/x/expire', '/a/{id}/expire']])('%s %s is %s', (method, path, expected) => {
    expect(table.find(method, path)?.route.path).toBe(expected);
  });

  it.each([['PUT', '/a'], ['GET', '/a/'], ['GET', ''], ['GET', '/'], ['GET', '//a'], ['GET', '/A'], ['GET', '/a/x/y'], ['POST', '/a//expire'], ['GET', '/t/%'], ['GET', '/t/%00'], ['GET', '/__proto__'], ['constructor', '/a']])('%s %s is none', (method, path) => {
    expect(table.find(method, path)).toBeNull();
  });

  it('decodes parameters after splitting the path', () => {
    expect(table.find('GET', '/t/a%2Fb%20c')?.params).toEqual({ text: 'a/b c' });
  });

  it('refuses two rows for the same method and path', () => {
    expect(() => compileTable([row('GET', '/a/{id}'), row('GET', '/a/{other}')])).toThrow('two routes');
  });

  it('knows which ids cannot be one', () => {
    const ulid = '0'.repeat(26);
    const plausible = (id: string) => hasPlausibleIds(table.find('GET', `/a/${id}`)!);
    expect([plausible(`cs_${ulid}`), plausible(`txn_${ulid}`), plausible('cs_1'), plausible(`cs_${ulid}0`)]).toEqual([true, false, false, false]);
  });
});
