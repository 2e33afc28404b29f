// The simulator's HTTP face: the API of both gateways, the challenge page, and /ledger, /control and /healthz for
// tests. It reads requests and writes answers; what they mean is decided behind it.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ledgerAnswer } from './answers.ts';
import type { Answer } from './answers.ts';
import { challengeHeaders, challengePage, unknownChallengePage } from './challenge-page.ts';
import { finishChallenge } from './charges.ts';
import { createControl } from './control.ts';
import { handleApi } from './gateway-api.ts';
import type { ApiDeps, Fate } from './gateway-api.ts';
import { sameText } from './keys.ts';
import type { Keys } from './keys.ts';
import type { Ledger } from './ledger.ts';
import type { Notifier } from './notifier.ts';
import { Refusal } from './refusal.ts';
import type { Fields } from './refusal.ts';
import { gatewaySlugs } from './rows.ts';
import type { ChargeRow, GatewaySlug, OperationRow } from './rows.ts';

const bodyLimitBytes = 64 * 1024;
/** Longer than any client keeps an idle connection, so that the client is the one to close it. */
const keepAliveMs = 65_000;

export interface ServerDeps {
  readonly ledger: Ledger;
  readonly keys: Keys;
  readonly notifier: Notifier;
  /** Bearer the API asks for; null asks for none. */
  readonly secret: string | null;
  readonly onPending: (row: OperationRow) => void;
}

export function createSimulatorServer(deps: ServerDeps): Server {
  const challengeUrl = (row: ChargeRow) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${row.gateway}/3ds/${row.id}.${deps.keys.challengeToken(row.id)}`;
  const api: ApiDeps = { ...deps, control: createControl(), challengeUrl };
  const server = createServer((request, response) => {
    handle(deps, api, request, response).catch((error: unknown) => fail(response, error));
  });
  server.keepAliveTimeout = keepAliveMs;
  return server;
}

async function handle(deps: ServerDeps, api: ApiDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://simulator');
  const [first = '', second, ...rest] = url.pathname.slice(1).split('/');
  const route = `${request.method} ${url.pathname}`;
  if (route === 'GET /healthz') return send(response, { status: 200, body: { status: 'ok' } });
  if (route === 'GET /ledger') {
    const answer = ledgerAnswer(deps.ledger.movements(url.searchParams.get('reference')));
    await deps.ledger.settled();
    return send(response, answer);
  }
  if (route === 'POST /control') {
    api.control.set(parseJson(await readBody(request)), Date.now());
    return send(response, { status: 200, body: { ok: true } });
  }

  const gateway = gatewaySlugs.find((slug) => slug === first);
  if (gateway === undefined) throw new Refusal(404, 'unknown_route');
  if (second === '3ds') return challenge(deps, gateway, rest[0] ?? '', request, response);
  if (second !== 'v1') throw new Refusal(404, 'unknown_route');
  if (deps.secret !== null && !sameText(request.headers.authorization ?? '', `Bearer ${deps.secret}`)) throw new Refusal(401, 'unauthorized');
  const key = request.headers['idempotency-key'];
  const fate = await handleApi(api, {
    gateway,
    method: request.method ?? 'GET',
    path: rest,
    query: url.searchParams,
    idempotencyKey: typeof key === 'string' ? key : undefined,
    fields: request.method === 'POST' ? parseJson(await readBody(request)) : {},
  });
  meet(request, response, fate);
}

async function challenge(deps: ServerDeps, gateway: GatewaySlug, address: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [id = '', token = ''] = address.split('.');
  const charge = sameText(token, deps.keys.challengeToken(id)) ? deps.ledger.charge(gateway, id) : undefined;
  if (charge === undefined) return sendPage(response, 404, unknownChallengePage());
  if (request.method !== 'POST') return sendPage(response, 200, challengePage(charge));

  const decision = new URLSearchParams(await readBody(request)).get('decision');
  // Read anew: the body took a while to come.
  const waiting = deps.ledger.charge(gateway, id) ?? charge;
  if (decision !== 'complete' && decision !== 'fail') return sendPage(response, 422, challengePage(waiting));
  const row = finishChallenge(deps.ledger, waiting, decision === 'complete', new Date());
  await deps.ledger.settled();
  if (row !== waiting) deps.notifier.changed(row);
  if (row.returnUrl === null) return sendPage(response, 200, challengePage(row));
  response.writeHead(303, { ...challengeHeaders, location: row.returnUrl }).end();
}

function meet(request: IncomingMessage, response: ServerResponse, fate: Fate): void {
  if (fate === 'silence') return;
  if (fate === 'reset') return void request.socket.resetAndDestroy();
  if ('raw' in fate) return sendText(response, 200, fate.raw);
  send(response, fate);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyLimitBytes) throw new Refusal(413, 'body_too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  } catch {
    // Answered below, without repeating what was sent.
  }
  throw new Refusal(400, 'malformed_json');
}

function send(response: ServerResponse, answer: Answer): void {
  sendText(response, answer.status, JSON.stringify(answer.body));
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
}

function sendPage(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, challengeHeaders).end(html);
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return;
  if (error instanceof Refusal) return send(response, { status: error.status, body: error.body });
  send(response, { status: 500, body: { error: 'internal_error' } });
}
