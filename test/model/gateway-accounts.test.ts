// Accounts at gateways: sealed in the database, renewed without being asked for everything again, each merchant's and
// mode's own, and what they make usable.
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DomainError } from '../../domain/errors.ts';
import { makeId } from '../../domain/id.ts';
import type { Scope } from '../../domain/mode.ts';
import { knownGateway, knownGateways } from '../../gateways/catalogue.ts';
import { simulatorCapabilities } from '../../gateways/simulator/gateway.ts';
import { stripeCapabilities } from '../../gateways/stripe/gateway.ts';
import { type Database, openDatabase } from '../../models/database.ts';
import { connectedGateways, disableGatewayAccount, listGatewayAccounts } from '../../models/gateway-account.ts';
import { finishNotification, takeNotification, dropOldNotifications } from '../../models/gateway-notification.ts';
import { readSessionPreconditions } from '../../models/session-create.ts';
import { connectGateway, type ConnectGatewayInput } from '../../operations/connect-gateway.ts';
import { createMerchant } from '../../operations/create-merchant.ts';
import { readCredentials, readNotificationSecrets } from '../../operations/gateway-credentials.ts';
import { usableGateway } from '../../operations/usable-gateway.ts';
import { createKeyRing } from '../../platform/key-ring.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const secretKey = 'sk_test_51MarkerMarkerMarker';
const notificationSecret = 'whsec_MarkerMarkerMarker';
const keyRing = createKeyRing(['0123456789abcdef0123456789abcdef']);
const newId = (kind: Parameters<typeof makeId>[0]): string => makeId(kind, ulid);

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase();
  db = openDatabase({ url: database.url, poolSize: 4, statementTimeoutMs: 10_000, onConnectionError: () => undefined });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const connect = (scope: Scope, input: Partial<ConnectGatewayInput> = {}) =>
  connectGateway({ db, keyRing, newId, known: knownGateway }, scope, { gateway: 'stripe', credentials: { secretKey }, notificationSecret, makeDefault: false, ...input });
const merchant = async (mode: 'test' | 'live' = 'test'): Promise<Scope> => ({ merchantId: (await createMerchant({ db, newId }, { name: 'Shop' })).merchantId, mode });
const refusal = (work: Promise<unknown>) => work.then(() => null, (error: DomainError) => ({ code: error.code, text: `${error.message} ${JSON.stringify(error.detail)}` }));

describe('an account at a gateway', () => {
  it('is never in clear in the database, and opens only for its own merchant and mode', async () => {
    const scope = await merchant();
    await connect(scope);
    const rows = await database.query<{ text: string }>('select a::text as text from gateway_accounts a where merchant_id = $1', [scope.merchantId]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toMatch(/Marker/);
    expect(await readCredentials({ db, keyRing }, scope, 'stripe')).toEqual({ secretKey });
    expect(await readCredentials({ db, keyRing }, { ...scope, mode: 'live' }, 'stripe')).toBeNull();

    const other = await merchant();
    await connect(other, { credentials: { secretKey: 'sk_test_anotherAccount' } });
    await database.query(
      'update gateway_accounts a set sealed_credentials = b.sealed_credentials from gateway_accounts b where a.merchant_id = $1 and b.merchant_id = $2',
      [other.merchantId, scope.merchantId],
    );
    await expect(readCredentials({ db, keyRing }, other, 'stripe'), 'moved to another row').rejects.toThrow();
  });

  it('keeps what is not given again, and is enabled again by connecting', async () => {
    const scope = await merchant();
    const first = await connect(scope);
    expect(await disableGatewayAccount(db, scope, 'stripe')).toBe(true);
    expect(await connectedGateways(db, scope)).toEqual([]);
    expect(await readCredentials({ db, keyRing }, scope, 'stripe'), 'what was begun goes on').toEqual({ secretKey });

    const renewed = await connect(scope, { credentials: null, notificationSecret: 'whsec_rotated' });
    expect(renewed).toMatchObject({ id: first.id, enabled: true, isDefault: false });
    expect(await readCredentials({ db, keyRing }, scope, 'stripe')).toEqual({ secretKey });
    expect(await readNotificationSecrets({ db, keyRing }, 'stripe', first.id)).toEqual([{ secret: 'whsec_rotated', owner: scope }]);
    expect(await connectedGateways(db, scope)).toEqual(['stripe']);
  });

  it('can become where payments go that name no gateway', async () => {
    const scope = await merchant();
    expect(await connect(scope, { makeDefault: true })).toMatchObject({ isDefault: true });
    const known = await readSessionPreconditions(db, scope, { customerId: null, externalCustomerId: null, hosts: [] });
    expect(known).toMatchObject({ defaultGateway: 'stripe', connectedGateways: ['stripe'] });
    expect(await listGatewayAccounts(db, { merchantId: scope.merchantId, mode: null })).toHaveLength(1);
    expect(await readSessionPreconditions(db, { ...scope, mode: 'live' }, { customerId: null, externalCustomerId: null, hosts: [] })).toMatchObject({ connectedGateways: [] });
  });

  it.each([
    ['a gateway there is not', { gateway: 'bank' }, 'gateway_not_found'],
    ['no credentials', { credentials: null }, 'validation_failed'],
    ['a live key in test mode', { credentials: { secretKey: 'sk_live_51MarkerMarkerMarker' } }, 'validation_failed'],
    ['something that is no key', { credentials: { secretKey: 'Marker' } }, 'validation_failed'],
  ])('is refused with %s, without repeating a secret', async (_, input, code) => {
    const refused = await refusal(connect(await merchant(), input));
    expect(refused?.code).toBe(code);
    expect(refused?.text).not.toMatch(/Marker/);
  });

  it('is refused for a merchant there is not', async () => {
    expect(await refusal(connect({ merchantId: 'mer_00000000000000000000000000', mode: 'test' }))).toMatchObject({ code: 'not_found' });
  });
});

describe('which gateways a merchant may use', () => {
  const facts = (slug: string) => ({ slug, name: slug, currencies: 'all', needsAccount: knownGateway(slug)?.needsAccount ?? true }) as const;
  const catalogue = { find: (slug: string) => (slug === 'none' ? null : facts(slug)), nameOf: (slug: string) => slug };

  it('the simulated ones without an account, the real ones with an enabled one', () => {
    expect(usableGateway(catalogue, 'simulator', 'test', [])).toMatchObject({ slug: 'simulator' });
    expect(usableGateway(catalogue, 'stripe', 'test', [])).toBeNull();
    expect(usableGateway(catalogue, 'stripe', 'test', ['stripe'])).toMatchObject({ slug: 'stripe' });
    expect(usableGateway(catalogue, 'none', 'test', ['none'])).toBeNull();
  });

  it('declare the same window in the catalogue and in their adapters', () => {
    expect(knownGateway('stripe')?.notFoundFinalAfterMs).toBe(stripeCapabilities.notFoundFinalAfterMs);
    for (const slug of ['simulator', 'simulator_b']) expect(knownGateway(slug)?.notFoundFinalAfterMs).toBe(simulatorCapabilities.notFoundFinalAfterMs);
    expect(knownGateways.filter((gateway) => !gateway.needsAccount).map((gateway) => gateway.slug)).toEqual(['simulator', 'simulator_b']);
  });
});

describe('a notification', () => {
  it('is acted upon once, by one of many at once', async () => {
    const taken = await Promise.all(Array.from({ length: 20 }, () => takeNotification(db, 'simulator', 'n1')));
    expect(taken.filter((one) => one)).toHaveLength(1);
    await finishNotification(db, 'simulator', 'n1', true);
    expect(await takeNotification(db, 'simulator', 'n1')).toBe(false);
    expect(await takeNotification(db, 'simulator_b', 'n1'), 'another gateway numbers for itself').toBe(true);
  });

  it('is heard again when it could not be acted upon, or its process died', async () => {
    await takeNotification(db, 'simulator', 'n2');
    await finishNotification(db, 'simulator', 'n2', false);
    expect(await takeNotification(db, 'simulator', 'n2')).toBe(true);
    await database.query(`update gateway_notifications set received_at = now() - interval '31 seconds' where notification_id = 'n2'`);
    expect(await takeNotification(db, 'simulator', 'n2')).toBe(true);
    expect(await takeNotification(db, 'simulator', 'n2')).toBe(false);
  });

  it('is forgotten after 30 days', async () => {
    await takeNotification(db, 'simulator', 'old');
    await takeNotification(db, 'simulator', 'young');
    await database.query(`update gateway_notifications set received_at = now() - interval '30 days 1 minute' where notification_id = 'old'`);
    await dropOldNotifications(db, 100);
    const left = await database.query<{ notification_id: string }>(`select notification_id from gateway_notifications where notification_id in ('old', 'young')`);
    expect(left).toEqual([{ notification_id: 'young' }]);
  });
});
