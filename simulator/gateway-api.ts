// The gateways' API under /{slug}/v1: finds the verb, runs it on the ledger, and lets a card or the control switch
// spoil the answer. Nothing is answered before it is on disk.
import { cardAnswer, chargeAnswer, operationAnswer } from './answers.ts';
import type { Answer } from './answers.ts';
import { vaultCard } from './cards.ts';
import { cancelCharge, makeCharge, readChargeOrder, repeatedCharge, slowCardMs } from './charges.ts';
import type { Behaviour, Control, RequestKind } from './control.ts';
import type { Keys } from './keys.ts';
import type { Ledger } from './ledger.ts';
import { readOperationOrder, runOperation } from './operations.ts';
import { Refusal, textField } from './refusal.ts';
import type { Fields } from './refusal.ts';
import type { ChargeRow, GatewaySlug, OperationRow, OperationType } from './rows.ts';

/** What becomes of the connection: an answer, a reset, or silence until the caller leaves. */
export type Fate = Answer | 'reset' | 'silence' | { readonly raw: string };

export interface ApiRequest {
  readonly gateway: GatewaySlug;
  readonly method: string;
  /** Path segments after `/{slug}/v1/`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly idempotencyKey: string | undefined;
  readonly fields: Fields;
}

export interface ApiDeps {
  readonly ledger: Ledger;
  readonly keys: Keys;
  readonly control: Control;
  readonly challengeUrl: (row: ChargeRow) => string;
  /** A refund went pending: its end has to be timed. */
  readonly onPending: (row: OperationRow) => void;
}

const slowGatewayMs = 2_500;

export async function handleApi(deps: ApiDeps, request: ApiRequest): Promise<Fate> {
  const { kind, run } = findVerb(deps, request);
  const { behaviour, latencyMs } = deps.control.take(request.gateway, kind, Date.now());
  const waitMs = latencyMs + (behaviour === 'slow' ? slowGatewayMs : 0);
  if (waitMs > 0) await wait(waitMs);
  if (behaviour === 'hang') return 'silence';
  if (behaviour === 'down') return { status: 503, body: { error: 'unavailable', charged: false } };
  const fate = await run();
  await deps.ledger.settled();
  return spoil(fate, behaviour);
}

interface Verb {
  readonly kind: RequestKind;
  readonly run: () => Fate | Promise<Fate>;
}

function findVerb(deps: ApiDeps, request: ApiRequest): Verb {
  const { ledger } = deps;
  const { gateway, fields, query } = request;
  const [noun, id, action] = request.path;
  const shape = `${request.method} ${request.path.map((part, index) => (index === 1 && part !== 'cancel' ? '*' : part)).join('/')}`;
  switch (shape) {
    case 'POST cards':
      return { kind: 'card', run: () => cardAnswer(vaultCard(deps, gateway, fields, new Date())) };
    case 'POST charges':
      return { kind: 'charge', run: () => charge(deps, request) };
    case 'GET charges':
      return { kind: 'lookup', run: () => found(ledger.chargeByKey(gateway, query.get('key') ?? ''), (row) => chargeAnswer(row, deps.challengeUrl)) };
    case 'POST charges/cancel':
      return {
        kind: 'cancel',
        run: () => chargeAnswer(cancelCharge(ledger, gateway, textField(fields, 'key'), textField(fields, 'reference'), new Date()), deps.challengeUrl),
      };
    case 'POST charges/*/capture':
    case 'POST charges/*/void':
    case 'POST charges/*/refund': {
      const type = action as OperationType;
      return { kind: type, run: () => operation(deps, request, type, id ?? '') };
    }
    case 'GET operations':
      return { kind: 'lookup', run: () => found(ledger.operationByKey(gateway, query.get('key') ?? ''), operationAnswer) };
    default:
      throw new Refusal(404, 'unknown_route', { noun });
  }
}

async function charge(deps: ApiDeps, request: ApiRequest): Promise<Fate> {
  const { ledger } = deps;
  const order = readChargeOrder(readKey(request), request.fields);
  const answer = (row: ChargeRow) => chargeAnswer(row, deps.challengeUrl);
  const earlier = repeatedCharge(ledger, request.gateway, order);
  if (earlier !== undefined) return answer(earlier);

  const behaviour = ledger.card(request.gateway, order.card)?.behaviour;
  if (behaviour === 'never_answers') return 'silence';
  if (behaviour === 'slow') {
    await wait(slowCardMs);
    // The key may have been charged or cancelled meanwhile.
    const meanwhile = repeatedCharge(ledger, request.gateway, order);
    if (meanwhile !== undefined) return answer(meanwhile);
  }
  const row = makeCharge(ledger, request.gateway, order, new Date());
  return behaviour === 'lost_answer' ? 'reset' : answer(row);
}

function operation(deps: ApiDeps, request: ApiRequest, type: OperationType, chargeId: string): Fate {
  const order = readOperationOrder(type, readKey(request), chargeId, request.fields);
  const isNew = deps.ledger.operationByKey(request.gateway, order.key) === undefined;
  const row = runOperation(deps.ledger, request.gateway, order, new Date());
  if (isNew && row.status === 'pending') deps.onPending(row);
  return operationAnswer(row);
}

function readKey(request: ApiRequest): string {
  return textField({ 'Idempotency-Key': request.idempotencyKey }, 'Idempotency-Key', /^[\x21-\x7e]{1,255}$/);
}

function found<R>(row: R | undefined, present: (row: R) => Answer): Answer {
  return row === undefined ? { status: 404, body: { error: 'key_not_found' } } : present(row);
}

function spoil(fate: Fate, behaviour: Behaviour): Fate {
  if (typeof fate === 'string' || 'raw' in fate) return fate;
  const body = fate.body as Record<string, unknown>;
  switch (behaviour) {
    case 'malformed':
      return { raw: JSON.stringify(body).slice(0, -8) };
    case 'lost':
      return 'reset';
    case 'lost_hang':
      return 'silence';
    case 'lost_502':
      return { status: 502, body: { error: 'bad_gateway' } };
    case 'wrong_amount':
      return { ...fate, body: { ...body, ...(typeof body.amount === 'number' ? { amount: body.amount + 1 } : {}) } };
    case 'wrong_currency':
      return { ...fate, body: { ...body, ...('currency' in body ? { currency: body.currency === 'EUR' ? 'USD' : 'EUR' } : {}) } };
    case 'oversized':
      return { ...fate, body: { ...body, padding: 'x'.repeat(10_000_000) } };
    case 'ok':
    case 'slow':
    case 'down':
    case 'hang':
      return fate;
    default:
      return behaviour satisfies never;
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
