// Stripe for the contract suite. Charges, refunds, captures and customers are kept by `stripe-stateful-mock`, which knows
// no PaymentIntents: those, PaymentMethods, search and 3DS are laid over it here, as Stripe's reference describes them.
// It shows that the adapter fits that description; whether Stripe does is for a test account to show (README.md there).
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import stateful from 'stripe-stateful-mock';
import { request as send } from 'undici';
import { passesLuhn } from '../../domain/card.ts';

type Json = Record<string, unknown>;
interface IntentObject {
  readonly id: string;
  readonly object: 'payment_intent';
  readonly amount: number;
  readonly currency: string | undefined;
  readonly customer: string | null;
  readonly payment_method: string | null;
  readonly capture_method: string;
  readonly transfer_group: string | null;
  readonly return_url: string | null;
  readonly metadata: Record<string, string>;
  amount_received: number;
  amount_capturable: number;
  status: string;
  last_payment_error: unknown;
  next_action: unknown;
  latest_charge: string | null;
  charges: string[];
}
interface MethodObject {
  readonly id: string;
  customer: string | null;
  readonly [field: string]: unknown;
}
interface Answer {
  status: number;
  body: Json;
  /** Where the browser is sent. */
  location?: string;
  silence?: 'lost' | 'never';
}
interface KeptMethod {
  readonly object: MethodObject;
  readonly number: string;
}
interface Intent {
  readonly object: IntentObject;
  /** The body the charge is made with, once it may be. */
  chargeBody: Record<string, string>;
  number: string;
}

export const standInCards = {
  approve: '4242424242424242',
  decline: '4000000000009995',
  challenge: '4000000000003220',
  lostAnswer: '4000000000000259',
  neverAnswers: '4000000000000267',
} as const;

/** The stateful mock's tokens, by card number. */
const tokens: Readonly<Record<string, string>> = {
  '5555555555554444': 'tok_mastercard',
  '378282246310005': 'tok_amex',
  [standInCards.decline]: 'tok_chargeDeclinedInsufficientFunds',
};

export interface StripeStandIn {
  readonly url: string;
  readonly secretKey: string;
  /** Everything that was asked, newest last: method and path, with the headers as they came. */
  readonly requests: { readonly line: string; readonly headers: IncomingMessage['headers']; readonly body: Record<string, string> }[];
  /** From now on search finds nothing new, as while Stripe's index lags. */
  stopIndexing(): void;
  /** The next POST is done, and its answer is not JSON. */
  garbleNextAnswer(): void;
  /** The next POST is not done and answered with this. */
  answerNext(status: number, body: Json): void;
  moneyMoved(reference: string): number;
  /** The customer at the bank; resolves with the address the browser is sent to. */
  finishChallenge(actionUrl: string, decision: 'complete' | 'fail'): Promise<string>;
  stop(): Promise<void>;
}

export async function startStripeStandIn(): Promise<StripeStandIn> {
  const mock = createServer(stateful.createExpressApp());
  const mockUrl = await listen(mock);
  const secretKey = `sk_test_${randomBytes(12).toString('hex')}`;
  const methods = new Map<string, KeptMethod>();
  const intents = new Map<string, Intent>();
  const answered = new Map<string, { request: string; answer: Answer }>();
  const requests: StripeStandIn['requests'] = [];
  let indexed: 'all' | ReadonlySet<string> = 'all';
  let isGarbled = false;
  let planned: Answer | null = null;
  let url = '';

  const ask = async (method: 'GET' | 'POST', path: string, body: Record<string, string> = {}, key?: string): Promise<Answer> => {
    const answer = await send(`${mockUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/x-www-form-urlencoded', ...(key === undefined ? {} : { 'idempotency-key': key }) },
      ...(method === 'POST' ? { body: new URLSearchParams(body).toString() } : {}),
    });
    return { status: answer.statusCode, body: (await answer.body.json()) as Json };
  };
  const chargesOf = async (intent: IntentObject): Promise<Json[]> =>
    Promise.all(intent.charges.map(async (id) => ({ ...(await ask('GET', `/v1/charges/${id}`)).body, payment_intent: intent.id })));

  const settle = async (intent: Intent): Promise<Answer> => {
    const { object } = intent;
    const { status, body } = await ask('POST', '/v1/charges', { ...intent.chargeBody, source: tokens[intent.number] ?? 'tok_visa' });
    if (status !== 200) {
      const error = body.error as Json;
      Object.assign(object, { status: 'requires_payment_method', last_payment_error: error, next_action: null });
      if (typeof error.charge === 'string') object.charges.push(error.charge);
      return { status, body: { error: { ...error, payment_intent: shown(object) } } };
    }
    const isCaptured = object.capture_method !== 'manual';
    Object.assign(object, {
      status: isCaptured ? 'succeeded' : 'requires_capture',
      amount_received: isCaptured ? object.amount : 0,
      amount_capturable: isCaptured ? 0 : object.amount,
      latest_charge: body.id,
      next_action: null,
    });
    object.charges.push(String(body.id));
    return { status: 200, body: shown(object), ...(intent.number === standInCards.lostAnswer ? { silence: 'lost' as const } : {}) };
  };
  const refuseToAuthenticate = (object: IntentObject, code: string): Answer => {
    const error = { type: 'card_error', code, message: 'Authentication.' };
    Object.assign(object, { status: 'requires_payment_method', last_payment_error: error, next_action: null });
    return { status: 402, body: { error: { ...error, payment_intent: shown(object) } } };
  };

  const createIntent = async (body: Record<string, string>): Promise<Answer> => {
    const number = methods.get(body.payment_method ?? '')?.number ?? '';
    if (body.confirm === 'true' && number === '') return invalid('resource_missing', 'payment_method', 404);
    if (number === standInCards.neverAnswers) return { status: 0, body: {}, silence: 'never' };
    const object: IntentObject = {
      id: id('pi'),
      object: 'payment_intent',
      amount: Number(body.amount),
      amount_received: 0,
      amount_capturable: 0,
      currency: body.currency,
      customer: body.customer ?? null,
      payment_method: body.payment_method ?? null,
      capture_method: body.capture_method ?? 'automatic',
      metadata: nested(body, 'metadata'),
      transfer_group: body.transfer_group ?? null,
      return_url: body.return_url ?? null,
      status: 'requires_payment_method',
      last_payment_error: null,
      next_action: null,
      latest_charge: null,
      charges: [],
    };
    const chargeBody: Record<string, string> = { amount: body.amount ?? '', currency: body.currency ?? '', capture: String(object.capture_method !== 'manual') };
    if (body.transfer_group !== undefined) chargeBody.transfer_group = body.transfer_group;
    for (const [name, value] of Object.entries(object.metadata)) chargeBody[`metadata[${name}]`] = value;
    const intent = { object, chargeBody, number };
    intents.set(object.id, intent);
    if (body.confirm !== 'true') return { status: 200, body: shown(object) };
    if (number !== standInCards.challenge) return settle(intent);
    if (body.off_session === 'true' || body.error_on_requires_action === 'true') return refuseToAuthenticate(object, 'authentication_required');
    Object.assign(object, { status: 'requires_action', next_action: { type: 'redirect_to_url', redirect_to_url: { url: `${url}/challenge/${object.id}`, return_url: object.return_url } } });
    return { status: 200, body: shown(object) };
  };

  const changeIntent = async (object: IntentObject, verb: string, body: Record<string, string>): Promise<Answer> => {
    if (verb === 'cancel') {
      if (['succeeded', 'canceled', 'processing'].includes(object.status)) return unexpectedState(object);
      // Releasing an authorisation is a refund of the uncaptured charge there.
      if (object.status === 'requires_capture') await ask('POST', '/v1/refunds', { charge: object.latest_charge ?? '' });
      Object.assign(object, { status: 'canceled', next_action: null, amount_capturable: 0 });
      return { status: 200, body: shown(object) };
    }
    if (object.status !== 'requires_capture') return unexpectedState(object);
    const amount = Number(body.amount_to_capture);
    if (amount > object.amount_capturable) return invalid('amount_too_large', 'amount_to_capture');
    const { status, body: answer } = await ask('POST', `/v1/charges/${object.latest_charge}/capture`, { amount: String(amount) });
    if (status !== 200) return { status, body: answer };
    Object.assign(object.metadata, nested(body, 'metadata'));
    Object.assign(object, { status: 'succeeded', amount_received: amount, amount_capturable: 0 });
    return { status: 200, body: shown(object) };
  };

  const challenge = async (intent: Intent | undefined, decision: string | undefined): Promise<Answer> => {
    if (intent === undefined) return invalid('resource_missing', 'intent', 404);
    const { object } = intent;
    if (object.status === 'requires_action') {
      if (decision === 'complete') await settle(intent);
      else refuseToAuthenticate(object, 'payment_intent_authentication_failure');
    }
    return { status: 303, body: {}, location: `${object.return_url}&payment_intent=${object.id}&payment_intent_client_secret=${object.id}_secret_x&source_type=card` };
  };

  const route = async (method: string, path: string, query: URLSearchParams, body: Record<string, string>, key: string | undefined): Promise<Answer> => {
    const [, , noun, first, verb] = path.split('/');
    if (path.startsWith('/challenge/')) return challenge(intents.get(path.slice('/challenge/'.length)), body.decision);
    if (noun === 'payment_methods' && method === 'POST') {
      if (first === undefined) return createMethod(body, methods);
      const kept = methods.get(first);
      if (kept === undefined) return invalid('resource_missing', 'payment_method', 404);
      kept.object.customer = body.customer ?? null;
      return { status: 200, body: kept.object };
    }
    if (noun === 'payment_intents') {
      if (method === 'POST' && first === undefined) return createIntent(body);
      if (first === 'search') {
        const wanted = /^metadata\["key"\]:"(.*)"$/.exec(query.get('query') ?? '')?.[1];
        const found = [...intents.values()].filter(({ object }) => (indexed === 'all' || indexed.has(object.id)) && object.metadata.key === wanted);
        return list(found.map(({ object }) => shown(object)));
      }
      const object = intents.get(first ?? '')?.object;
      if (object === undefined) return invalid('resource_missing', 'intent', 404);
      return verb === undefined ? { status: 200, body: shown(object) } : changeIntent(object, verb, body);
    }
    if (noun === 'charges' && method === 'GET' && first === undefined) {
      const inGroup = [...intents.values()].filter(({ object }) => object.transfer_group === query.get('transfer_group'));
      return list((await Promise.all(inGroup.map(({ object }) => chargesOf(object)))).flat());
    }
    if (noun === 'refunds') {
      const object = intents.get(body.payment_intent ?? query.get('payment_intent') ?? '')?.object;
      if (object === undefined) return invalid('resource_missing', 'payment_intent', 404);
      if (method === 'GET') return ask('GET', `/v1/refunds?charge=${object.latest_charge}&limit=100`);
      const { payment_intent: _, ...rest } = body;
      return ask('POST', '/v1/refunds', { ...rest, charge: object.latest_charge ?? '' }, key);
    }
    return ask(method as 'GET' | 'POST', `${path}?${query}`, body, key);
  };

  const answer = async (method: string, target: URL, body: Record<string, string>, key: string | undefined): Promise<Answer> => {
    const run = () => route(method, target.pathname, target.searchParams, body, key);
    if (method !== 'POST') return run();
    if (planned !== null) {
      const { status, body: plan } = planned;
      planned = null;
      return { status, body: plan };
    }
    if (key === undefined) return run();
    const request = JSON.stringify([target.pathname, Object.entries(body).toSorted()]);
    const earlier = answered.get(key);
    if (earlier !== undefined) {
      const { silence: _, ...again } = earlier.answer;
      return earlier.request === request ? again : { status: 400, body: { error: { type: 'idempotency_error', message: 'Keys for idempotent requests can only be used with the same parameters.' } } };
    }
    const made = await run();
    if (made.silence !== 'never') answered.set(key, { request, answer: structuredClone(made) });
    return made;
  };

  // One at a time: Stripe would answer 409 to the second request under a key that is being worked on.
  let turn: Promise<unknown> = Promise.resolve();
  const server = createServer((incoming, outgoing) => {
    void readForm(incoming).then((body) => {
      const target = new URL(incoming.url ?? '/', url);
      requests.push({ line: `${incoming.method} ${target.pathname}`, headers: incoming.headers, body });
      const header = incoming.headers['idempotency-key'];
      turn = turn.then(async () => reply(outgoing, await answer(incoming.method ?? 'GET', target, body, typeof header === 'string' ? header : undefined), incoming.method === 'POST' && isGarbled));
      return turn;
    });
  });
  const reply = (outgoing: ServerResponse, { status, body, location, silence }: Answer, garbled: boolean): void => {
    if (silence === 'never') return;
    if (silence === 'lost') return void outgoing.destroy();
    if (garbled) isGarbled = false;
    outgoing.writeHead(status, { 'content-type': 'application/json', ...(location === undefined ? {} : { location }) });
    outgoing.end(garbled ? '<html>' : JSON.stringify(body));
  };
  url = await listen(server);

  return {
    url,
    secretKey,
    requests,
    stopIndexing: () => void (indexed = new Set(intents.keys())),
    garbleNextAnswer: () => void (isGarbled = true),
    answerNext: (status, body) => void (planned = { status, body }),
    moneyMoved: (reference) => [...intents.values()].filter(({ object }) => object.metadata.reference === reference && ['succeeded', 'requires_capture'].includes(object.status)).length,
    async finishChallenge(actionUrl, decision) {
      const { headers, body } = await send(actionUrl, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: `decision=${decision}` });
      await body.dump();
      return String(headers.location);
    },
    async stop() {
      for (const each of [server, mock]) {
        each.closeAllConnections();
        await new Promise((closed) => each.close(closed));
      }
    },
  };
}

function createMethod(body: Record<string, string>, methods: Map<string, KeptMethod>): Answer {
  const number = body['card[number]'] ?? '';
  const year = Number(body['card[exp_year]']);
  if (!passesLuhn(number)) return cardError('incorrect_number', 'number');
  if (year < new Date().getUTCFullYear()) return cardError('invalid_expiry_year', 'exp_year');
  const card = {
    brand: number.startsWith('4') ? 'visa' : 'mastercard',
    last4: number.slice(-4),
    exp_month: Number(body['card[exp_month]']),
    exp_year: year,
    fingerprint: createHash('sha256').update(`fingerprint ${number}`).digest('hex').slice(0, 16),
  };
  const object: MethodObject = { id: id('pm'), object: 'payment_method', type: 'card', customer: null, card };
  methods.set(object.id, { object, number });
  return { status: 200, body: object };
}

function shown(object: IntentObject): Json {
  const { charges: _, ...rest } = object;
  return structuredClone(rest);
}

function list(data: Json[]): Answer {
  return { status: 200, body: { object: 'list', data, has_more: false } };
}

function cardError(code: string, param: string): Answer {
  return { status: 402, body: { error: { type: 'card_error', code, param, message: 'The card.' } } };
}

function invalid(code: string, param: string, status = 400): Answer {
  return { status, body: { error: { type: 'invalid_request_error', code, param, message: 'The request.' } } };
}

function unexpectedState(object: IntentObject): Answer {
  return { status: 400, body: { error: { type: 'invalid_request_error', code: 'payment_intent_unexpected_state', message: 'The state.', payment_intent: shown(object) } } };
}

function nested(body: Record<string, string>, name: string): Record<string, string> {
  const entries = Object.entries(body).filter(([key]) => key.startsWith(`${name}[`));
  return Object.fromEntries(entries.map(([key, value]) => [key.slice(name.length + 1, -1), value]));
}

function id(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

async function readForm(incoming: IncomingMessage): Promise<Record<string, string>> {
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  return Object.fromEntries(new URLSearchParams(text));
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
