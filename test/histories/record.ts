// Records one history of each way a session can go, from a service started by `npm start`, for replay.test.ts. Run it when
// a released workflow has taken a new shape; histories of older shapes stay, they are what still has to replay:
//   node --import tsx test/histories/record.ts v1 [beginning of the names to record]
import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { readRuntime } from '../../cli/runtime-file.ts';
import { finishChallenge } from '../contract/simulator-harness.ts';
import { createApiClient } from '../support/api-client.ts';
import { taskQueues, workflowTypes } from '../../temporal/contract.ts';
import { cancelOnPage, openPage, payOnPage, saveOnPage } from '../support/hosted-page.ts';

const [version = 'v1', wanted = ''] = process.argv.slice(2);
const runtime = readRuntime(process.env['DATA_DIR'] ?? '.data');
if (runtime?.demo === null || runtime === null) throw new Error('start the service first: npm start');
const api = createApiClient(runtime.api_url, runtime.demo.test_key);
const client = new Client({ connection: await Connection.connect({ address: runtime.temporal.address }), namespace: runtime.temporal.namespace });

interface Session {
  readonly id: string;
  readonly checkout_url: string;
}

const stories: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  paid: (session) => payOnPage(session.checkout_url, '4242424242424242'),
  declined: (session) => payOnPage(session.checkout_url, '4000000000000002'),
  authenticated: async (session) => {
    const { location } = await payOnPage(session.checkout_url, '4000000000003220');
    await openPage(await finishChallenge(String(location), 'complete'));
  },
  'looked-up': (session) => payOnPage(session.checkout_url, '4000000000000259'),
  cancelled: (session) => cancelOnPage(session.checkout_url),
  expired: (session) => api.post(`/checkout-sessions/${session.id}/expire`),
};

/** Stories of payments without a page: each returns the ids of the workflows it made. */
const token = await savedCard('4242424242424242');
const money: Readonly<Record<string, () => Promise<string[]>>> = {
  'charge-captured': async () => [await charge(token, {})],
  'charge-declined': async () => [await charge(await savedCard('4000000000000341'), {})],
  'authorize-and-void': async () => {
    const id = await charge(token, { capture: false });
    await api.post(`/payments/${id}/void`);
    return newestOf('void');
  },
  'authorize-and-capture': async () => {
    const id = await charge(token, { capture: false });
    await api.post(`/payments/${id}/capture`);
    return newestOf('capture');
  },
  'refund-pending': async () => {
    const id = await charge(await savedCard('4000000000007726'), {});
    return [(await api.post<{ id: string }>(`/payments/${id}/refund`)).body.id];
  },
};

async function savedCard(number: string): Promise<string> {
  const { body } = await api.post<Session>('/checkout-sessions', { amount: 100, currency: 'USD', success_url: 'https://shop.example/paid', failure_url: 'https://shop.example/failed' });
  await payOnPage(body.checkout_url, number);
  return (await api.get<{ transaction: { token_id: string } }>(`/checkout-sessions/${body.id}`)).body.transaction.token_id;
}
async function charge(tokenId: string, fields: object): Promise<string> {
  const { body } = await api.post<{ id: string; payment_id?: string }>('/charge-token', { token_id: tokenId, amount: 1000, currency: 'USD', ...fields });
  return body.payment_id ?? body.id;
}
/** Operations have no address of their own; the workflow that began last with this type is the one. */
async function newestOf(kind: 'capture' | 'void'): Promise<string[]> {
  await pause(2_000);
  for await (const execution of client.workflow.list({ query: `WorkflowType = '${kind}Payment'` })) return [execution.workflowId];
  await pause(500);
  return newestOf(kind);
}

const folder = new URL('./recorded/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, act] of Object.entries(stories)) {
  if (!`checkout-session-${name}`.startsWith(wanted)) continue;
  const { body: session } = await api.post<Session>('/checkout-sessions', {
    amount: 2500,
    currency: 'USD',
    success_url: 'https://shop.example/paid',
    failure_url: 'https://shop.example/failed',
    cancel_url: 'https://shop.example/basket',
  });
  await act(session);
  await record(`checkout-session-${name}`, session.id);
}
for (const [name, act] of Object.entries(money)) {
  if (!`payment-${name}`.startsWith(wanted)) continue;
  for (const id of await act()) await record(`payment-${name}`, id);
}
if ('card-setup-completed'.startsWith(wanted)) await record('card-setup-completed', await completedSetup());

/** Its workflow would sleep for half an hour: another one, due at once, takes its place and finds the card saved. */
async function completedSetup(): Promise<string> {
  const { body: customer } = await api.post<{ id: string }>('/customers', {});
  const { body: setup } = await api.post<{ id: string; setup_url: string }>(`/customers/${customer.id}/card-setup-sessions`, { success_url: 'https://shop.example/saved', failure_url: 'https://shop.example/failed' });
  await saveOnPage(setup.setup_url, '4242424242424242');
  await client.workflow.getHandle(setup.id).terminate('recorded');
  await client.workflow.start(workflowTypes.cardSetup, { workflowId: setup.id, taskQueue: taskQueues.payments, args: [{ setupId: setup.id, expiresAtMs: Date.now() }] });
  return setup.id;
}

async function record(name: string, workflowId: string): Promise<void> {
  const handle = client.workflow.getHandle(workflowId);
  while ((await handle.describe()).status.name === 'RUNNING') await pause(200);
  const history = await handle.fetchHistory();
  writeFileSync(new URL(`${version}-${name}.bin`, folder), proto.temporal.api.history.v1.History.encode(history).finish());
  process.stdout.write(`${version} ${name}: ${history.events?.length} events\n`);
}
process.exit(0);
