// The operator's commands for gateways and unsettled payments, as a process of its own beside a running product.
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { payOnPage } from '../support/hosted-page.ts';
import { startStack, type Stack } from '../support/stack.ts';

const masterKey = 'a-master-key-of-at-least-32-characters';
const root = fileURLToPath(new URL('../..', import.meta.url));

let stack: Stack;
let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(inject('runDir'), 'svc-'));
  stack = await startStack({ env: { MASTER_KEY: masterKey } });
});
afterAll(() => stack?.stop());

interface Ran {
  readonly exitCode: number;
  readonly json: Record<string, unknown>;
  readonly stdout: string;
  readonly stderr: string;
}

function svc(...args: string[]): Promise<Ran> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: stack.db.url, MASTER_KEY: masterKey, PUBLIC_URL: stack.url, DATA_DIR: dir };
  return new Promise((resolve) => {
    execFile(process.execPath, ['cli/launch.js', 'cli/svc.ts', ...args, '--json'], { cwd: root, env }, (error, stdout, stderr) => {
      resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, json: JSON.parse(stdout) as Record<string, unknown>, stdout, stderr });
    });
  });
}

describe('svc gateway', () => {
  it('connects, lists and disables an account, and never shows a secret', async () => {
    const { merchantId } = stack.merchant;
    const file = join(dir, 'secret.txt');
    writeFileSync(file, 'sk_test_51FromAFileMarker\n');
    const connected = await svc('gateway', 'connect', '--merchant', merchantId, '--mode', 'test', '--gateway', 'stripe', '--secret-key', `@${file}`, '--notification-secret', 'whsec_Marker');
    expect(connected).toMatchObject({ exitCode: 0, json: { merchant_id: merchantId, mode: 'test', gateway: 'stripe', name: 'Stripe', enabled: true, default: false, has_notification_secret: true } });
    expect(connected.json['notification_url']).toBe(`${stack.url}/gateway-notifications/stripe?account=${String(connected.json['id'])}`);
    const listed = await svc('gateway', 'list', '--merchant', merchantId);
    expect(listed.json).toMatchObject({ data: [{ id: connected.json['id'], enabled: true }] });
    const disabled = await svc('gateway', 'disable', 'stripe', '--merchant', merchantId);
    expect(disabled.json).toMatchObject({ gateway: 'stripe', enabled: false });
    expect(connected.stdout + connected.stderr + listed.stdout).not.toMatch(/Marker/);
  });

  it('makes a simulated gateway the default without any credentials', async () => {
    const merchant = await stack.addMerchant('Shop B');
    const connected = await svc('gateway', 'connect', '--merchant', merchant.merchantId, '--gateway', 'simulator_b', '--default');
    expect(connected).toMatchObject({ exitCode: 0, json: { gateway: 'simulator_b', default: true } });
    const session = await merchant.api.post('/checkout-sessions', { amount: 100, currency: 'USD', success_url: 'https://shop.example/ok', failure_url: 'https://shop.example/no' });
    expect((await merchant.api.get(`/checkout-sessions/${String(session.body['id'])}`)).body).toMatchObject({ gateway: 'simulator_b' });
  });

  it('says what is wrong with credentials without repeating them', async () => {
    const wrong = await svc('gateway', 'connect', '--merchant', stack.merchant.merchantId, '--gateway', 'stripe', '--credentials', '{"secret_key":"sk_live_51Marker12345"}');
    expect(wrong).toMatchObject({ exitCode: 1, json: { code: 'validation_failed' } });
    expect(wrong.stdout).toContain('sk_test_');
    expect(wrong.stdout).not.toMatch(/Marker/);
    expect(await svc('gateway', 'connect', '--merchant', stack.merchant.merchantId, '--gateway', 'bank')).toMatchObject({ exitCode: 1, json: { code: 'gateway_not_found' } });
  });
});

describe('svc payment resolve', () => {
  const control = async (behaviour: string): Promise<void> => {
    const answer = await request(`${stack.simulator.url}/control`, { method: 'POST', body: JSON.stringify({ slug: 'simulator', behaviour, only: ['lookup'] }) });
    await answer.body.dump();
  };
  const resolve = (payment: string, outcome: string) => svc('payment', 'resolve', '--payment', payment, '--outcome', outcome, '--reason', 'seen in the dashboard');

  it('settles a processing payment nobody can look up, once its gateway can no longer surprise', async () => {
    await control('hang');
    const session = await stack.api.post<{ id: string; checkout_url: string }>('/checkout-sessions', { amount: 2500, currency: 'USD', success_url: 'https://shop.example/ok', failure_url: 'https://shop.example/no' });
    const { id, checkout_url: page } = session.body;
    const payment = (await stack.db.query<{ id: string }>('select transaction_id as id from checkout_sessions where id = $1', [id]))[0]?.id ?? '';
    expect(await resolve(payment, 'captured'), 'not tried yet').toMatchObject({ exitCode: 1, json: { code: 'validation_failed' } });

    await payOnPage(page, '4000000000000259');
    await eventually(async () => expect(await stack.db.query('select status from transactions where id = $1', [payment])).toEqual([{ status: 'processing' }]));
    expect((await resolve(payment, 'captured')).json['error'], 'too early').toMatch(/may still answer/);

    await stack.db.query(`update payment_attempts set sent_at = sent_at - interval '31 seconds' where transaction_id = $1`, [payment]);
    expect((await resolve(payment, 'voided')).json, 'there is no void').toMatchObject({ code: 'validation_failed' });
    const resolved = await resolve(payment, 'captured');
    expect(resolved).toMatchObject({ exitCode: 0, json: { id: payment, previous_status: 'processing', status: 'captured', outcome: 'captured' } });
    expect(JSON.parse(resolved.stderr)).toMatchObject({ audit: 'payment_resolved', payment, outcome: 'captured', reason: 'seen in the dashboard' });
    expect((await stack.api.get(`/checkout-sessions/${id}`)).body).toMatchObject({ status: 'completed' });
    const events = await stack.db.query<{ type: string }>('select type from events where resource_id in ($1, $2) order by created_at, type', [payment, id]);
    expect(events.map((event) => event.type)).toEqual(expect.arrayContaining(['payment.completed', 'checkout_session.completed']));

    expect((await resolve(payment, 'failed')).json['error'], 'once').toMatch(/is captured/);
    await control('ok');
  });

  it.each([
    ['captured', 'captured'],
    ['failed', 'failed'],
  ])('settles a charge of a saved card as %s', async (outcome, status) => {
    const token = await stack.api.post('/tokenize', { card: { number: '4000000000000259', expiry_month: 12, expiry_year: 2040, cvc: '123' } });
    await control('hang');
    const charged = await stack.api.post('/charge-token', { token_id: token.body['id'], amount: 700, currency: 'USD' });
    expect(charged).toMatchObject({ status: 202, body: { status: 'processing' } });
    const payment = String(charged.body['id']);
    await stack.db.query(`update payment_attempts set sent_at = sent_at - interval '31 seconds' where transaction_id = $1`, [payment]);
    expect(await resolve(payment, outcome)).toMatchObject({ exitCode: 0, json: { previous_status: 'processing', status } });
    expect((await stack.api.get(`/payments/${payment}`)).body).toMatchObject({ status, pending_operation: null });
    await control('ok');
  });

  it('refuses a payment there is not and an outcome that is none', async () => {
    expect(await resolve('txn_00000000000000000000000000', 'failed')).toMatchObject({ exitCode: 1, json: { code: 'not_found' } });
    expect(await resolve('txn_00000000000000000000000000', 'lost')).toMatchObject({ exitCode: 1, json: { code: 'validation_failed' } });
  });
});
