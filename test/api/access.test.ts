// Who may reach what, generated from the routes table: a new row is covered by being there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Route } from '../../api/route.ts';
import { routes } from '../../api/routes.ts';
import { idPrefixes, type IdKind } from '../../domain/id.ts';
import { revokeKey } from '../../operations/revoke-key.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { sessionBody, startApi, type TestApi, type TestMerchant } from './app-fixture.ts';

const keyed = routes.filter((route) => route.tier !== 'public-reads' && route.tier !== 'public-posts');
/** Bodies that pass validation, so that ownership is what decides. */
const bodies: Readonly<Record<string, object>> = {
  'POST /checkout-sessions': sessionBody,
  'POST /webhook-endpoints': { url: 'https://hooks.test/x', events: ['*'] },
  'PATCH /webhook-endpoints/{id}': { description: 'changed' },
  'POST /tokenize': { card: { number: '4242424242424242', expiry_month: 12, expiry_year: 2040, cvc: '123' } },
  'POST /customers/{id}/card-setup-sessions': { success_url: sessionBody.success_url, failure_url: sessionBody.failure_url },
  'POST /domains': { hostname: 'a.test', kind: 'plugin' },
};

let api: TestApi;
let owner: TestMerchant;
let stranger: TestMerchant;
let revoked: string;
/** One thing of each kind that belongs to `owner` in test mode. */
let owned: Readonly<Record<string, string>>;

beforeAll(async () => {
  api = await startApi();
  owner = await api.addMerchant();
  stranger = await api.addMerchant();
  const gone = await api.addMerchant();
  revoked = gone.test;
  await revokeKey(api.operations, revoked);
  const session = await owner.api.post('/checkout-sessions', sessionBody, { idempotencyKey: 'owned-key' });
  const endpoint = await owner.api.post('/webhook-endpoints', bodies['POST /webhook-endpoints']);
  await owner.api.post('/domains', { hostname: 'owned.test', kind: 'plugin' });
  await api.sql(`insert into customers (id, merchant_id, mode, external_customer_id) values ('cus_0000000000000000000000000a', $1, 'test', 'owned-user')`, [owner.merchantId]);
  const token = await owner.api.post('/tokenize', { ...bodies['POST /tokenize'], external_customer_id: 'owned-user' });
  const setup = await owner.api.post('/customers/cus_0000000000000000000000000a/card-setup-sessions', bodies['POST /customers/{id}/card-setup-sessions']);
  const [delivery] = await api.sql<{ id: string }>('select id from deliveries where merchant_id = $1 limit 1', [owner.merchantId]);
  const [payment] = await api.sql<{ id: string }>('select id from transactions where session_id = $1', [session.body['id']]);
  await api.sql(`update transactions set status = 'captured', tried_at = now(), amount_captured = amount where id = $1`, [payment?.id]);
  await api.sql(
    `insert into refunds (id, transaction_id, merchant_id, mode, amount, currency, type, receipt_number, gateway_key, n, created_at)
     values ('rf_0000000000000000000000000a', $1, $2, 'test', 100, 'USD', 'partial', 'R', 'refund-key', 1, now())`,
    [payment?.id, owner.merchantId],
  );
  owned = {
    session: session.body['id'] as string,
    transaction: payment?.id ?? '',
    endpoint: endpoint.body['id'] as string,
    customer: 'cus_0000000000000000000000000a',
    external_customer_id: 'owned-user',
    token: token.body['id'] as string,
    cardSetup: setup.body['id'] as string,
    refund: 'rf_0000000000000000000000000a',
    delivery: delivery?.id ?? 'dlv_0000000000000000000000000a',
    key: 'owned-key',
    hostname: 'owned.test',
  };
});
afterAll(() => api.stop());

const nameOf = (route: Route): string => `${route.method} ${route.path}`;

function pathOf(route: Route, pick: (name: string, kind: IdKind | 'text') => string): string {
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const kinds = route.ids[name] ?? 'text';
    return pick(name, typeof kinds === 'string' ? kinds : (kinds[0] ?? 'text'));
  });
}

const absentId = (_: string, kind: IdKind | 'text'): string => (kind === 'text' ? 'absent.test' : `${idPrefixes[kind]}_${'0'.repeat(26)}`);
const malformedId = (): string => 'nonsense';
const ownersId = (name: string, kind: IdKind | 'text'): string => owned[kind === 'text' ? name : kind] ?? `no fixture for ${kind}`;

const call = (route: Route, path: string, key: string | null): Promise<ApiAnswer> =>
  owner.api.call(route.method, path, route.body === undefined ? undefined : (bodies[nameOf(route)] ?? {}), { key });

const comparable = (answer: ApiAnswer): object => ({ status: answer.status, body: { ...answer.body, request_id: '' } });

describe.each(keyed.map((route) => [nameOf(route), route] as const))('%s', (_, route) => {
  test('needs a valid key', async () => {
    for (const key of [null, 'nonsense', `svc_test_${'x'.repeat(43)}`, revoked]) {
      const answer = await call(route, pathOf(route, ownersId), key);
      expect([key, answer.status, answer.body['code']]).toEqual([key, 401, 'invalid_api_key']);
      expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
    }
  });

  if (route.foreign === 'not_found') test('tells nothing apart between another\'s, the other mode\'s, an absent and a malformed id', async () => {
    const absent = await call(route, pathOf(route, absentId), stranger.test);
    expect([absent.status, absent.body['code']]).toEqual([404, 'not_found']);
    expect(comparable(await call(route, pathOf(route, ownersId), stranger.test))).toEqual(comparable(absent));
    expect(comparable(await call(route, pathOf(route, ownersId), owner.live))).toEqual(comparable(absent));
    expect(comparable(await call(route, pathOf(route, malformedId), stranger.test))).toEqual(comparable(absent));
  });

  if (route.foreign === 'empty') test('shows another merchant and the other mode nothing', async () => {
    for (const key of [stranger.test, owner.live]) {
      const answer = await call(route, pathOf(route, ownersId), key);
      expect([answer.status, answer.body['data']]).toEqual([200, []]);
    }
    const mine = await call(route, pathOf(route, ownersId), owner.test);
    expect(mine.body['data']).not.toEqual([]);
  });
});

test('an id of another merchant or mode in a body is answered like an absent one', async () => {
  const withCustomer = (id: string) => ({ ...sessionBody, customer_id: id });
  expect((await owner.api.post('/checkout-sessions', withCustomer(owned['customer'] ?? ''))).status).toBe(201);
  const absent = await stranger.api.post('/checkout-sessions', withCustomer('cus_00000000000000000000000000'));
  expect([absent.status, absent.body['code'], absent.body['param']]).toEqual([422, 'customer_not_found', 'customer_id']);
  expect(comparable(await stranger.api.post('/checkout-sessions', withCustomer(owned['customer'] ?? '')))).toEqual(comparable(absent));
  await owner.liveApi.post('/domains', { hostname: 'shop.test', kind: 'plugin' });
  expect(comparable(await owner.liveApi.post('/checkout-sessions', withCustomer(owned['customer'] ?? '')))).toEqual(comparable(absent));
});

test('another\'s id in a filter gives an empty list', async () => {
  const answer = await stranger.api.get(`/checkout-sessions?customer_id=${owned['customer']}`);
  expect([answer.status, answer.body['data']]).toEqual([200, []]);
});

test('the refusals left the owner\'s things as they were', async () => {
  expect((await owner.api.get(`/checkout-sessions/${owned['session']}`)).body['status']).toBe('open');
  expect((await owner.api.get(`/webhook-endpoints/${owned['endpoint']}`)).status).toBe(200);
  expect((await owner.api.get<{ data: object[] }>('/domains')).body.data).toHaveLength(1);
});
