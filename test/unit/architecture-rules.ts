// The arrows of the code base as a table: who may import whom, and why. docs/architecture.md shows the same in words.

export interface ArrowRule {
  /** Files whose path begins with this. The longest match decides. */
  readonly layer: string;
  /** Path beginnings of our own files it may import, its own layer aside. */
  readonly may: readonly string[];
  /** Path beginnings of which it may import types and nothing else. */
  readonly mayTypes?: readonly string[];
  /** Packages it may import; Node's own modules are listed as `node:`. Absent: any. */
  readonly packages?: readonly string[];
  readonly because: string;
}

const everythingInside = ['domain/', 'models/', 'operations/', 'temporal/', 'presenters/', 'webhooks/', 'platform/'];

export const arrowRules: readonly ArrowRule[] = [
  {
    layer: 'domain/',
    may: [],
    packages: [],
    because: 'domain is tables and pure functions, bundled into workflow code: whatever it imported would be bundled and replayed with it',
  },
  {
    layer: 'platform/',
    may: [],
    because: 'platform knows nothing of payments, so that everything may stand on it',
  },
  {
    layer: 'models/',
    may: ['domain/', 'platform/'],
    packages: ['knex', 'objection', 'pg', 'node:'],
    because: 'models remember: a query that called a gateway, a presenter or Temporal would do so inside somebody\'s transaction',
  },
  {
    layer: 'migrations/',
    may: [],
    packages: ['knex'],
    because: 'an applied migration never changes, so it must not import what does',
  },
  {
    layer: 'presenters/',
    may: ['domain/'],
    mayTypes: ['models/'],
    packages: [],
    because: 'presenters are pure functions of rows: the same rows give the same bytes for an answer, an event and a replay',
  },
  {
    layer: 'webhooks/',
    may: ['domain/', 'models/', 'platform/'],
    because: 'webhooks talk to merchants; the composition root hands them startDelivery, so that they never know of Temporal',
  },
  {
    layer: 'gateways/',
    may: ['domain/', 'platform/'],
    because: 'gateways talk to providers and remember nothing: what was claimed and settled is the caller\'s to write',
  },
  {
    layer: 'operations/',
    may: ['domain/', 'models/', 'presenters/', 'webhooks/envelope.ts', 'platform/'],
    mayTypes: ['temporal/contract.ts'],
    because: 'operations are the verbs that API, pages and activities share: one that reached for Temporal or a gateway would hold a transaction open over a network call',
  },
  {
    layer: 'temporal/',
    may: ['domain/'],
    packages: ['@temporalio/client', '@temporalio/common', '@temporalio/proto'],
    because: 'temporal is the door to the server and nothing behind it: it sends ids and amounts, it reads no rows',
  },
  {
    layer: 'temporal/contract.ts',
    may: ['domain/'],
    packages: [],
    because: 'the contract is bundled into workflow code: constants and types only',
  },
  {
    layer: 'workflows/',
    may: ['domain/', 'temporal/contract.ts'],
    mayTypes: ['activities/'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
    because: 'workflows decide and are replayed: they see time and the world only through @temporalio/workflow and the types of activities',
  },
  {
    layer: 'activities/',
    may: ['domain/', 'models/', 'operations/', 'gateways/', 'webhooks/', 'temporal/'],
    because: 'activities do what a workflow decided; they stand above operations and gateways and below nothing but the composition roots',
  },
  {
    layer: 'api/',
    may: [...everythingInside, 'gateways/vault', 'gateways/notification', 'gateways/catalogue'],
    because: 'the API turns HTTP into verbs; money moves behind a workflow, so it has no business with gateways beyond vault, notification and catalogue',
  },
  {
    layer: 'pages/',
    may: [...everythingInside, 'api/middleware/', 'gateways/vault', 'gateways/notification', 'gateways/catalogue'],
    because: 'pages are a second front of the same verbs, as the API is',
  },
  {
    layer: 'workers/',
    may: ['domain/', 'models/', 'temporal/', 'platform/'],
    because: 'workers run what the composition root hands them: activities and workflow code come as arguments',
  },
  {
    layer: 'simulator/',
    may: ['domain/card.ts'],
    because: 'the simulated gateway is another company\'s program: it shares the table of test cards with us and nothing else',
  },
  {
    layer: 'docs/',
    may: ['domain/'],
    packages: ['node:'],
    because: 'documents are drawn from the tables, which are all in domain',
  },
  {
    layer: 'examples/',
    may: [],
    packages: ['node:'],
    because: 'the demo store is a merchant: it has the public interface and Node, and merchants copy it as it is',
  },
];

/** Composition roots, tests and benchmarks put everything together, so they may import everything. */
export const roots = ['api/main.ts', 'workers/main.ts', 'cli/', 'test/', 'bench/', 'vitest.config.ts'];

/**
 * Imports that go against the table and are meant to, each with its reason. One that is no longer needed fails the test,
 * so that this list only ever tells the truth.
 */
export const departures: readonly { readonly from: string; readonly to: string; readonly because: string }[] = [
  { from: 'activities/', to: 'platform/seal.ts', because: 'the sealed card reference is opened in the one place that hands it to the gateway' },
  { from: 'operations/', to: 'webhooks/secret.ts', because: 'making and sealing a signing secret is pure, and belongs to the file that defines its form' },
  { from: 'pages/checkout/', to: 'gateways/gateway.ts', because: 'the vault is part of the gateway port: a card goes in, a reference comes out' },
  { from: 'pages/checkout/', to: 'gateways/registry.ts', because: 'the session names its gateway, and the registry is how its vault is found' },
  { from: 'simulator/', to: 'domain/gateway-outcome.ts', because: 'types of decline codes, so that a code nobody maps does not compile' },
];

/** Who may name the type that holds a card number. */
export const cardHolders = ['domain/card.ts', 'pages/checkout/', 'pages/setup/', 'pages/deps.ts', 'api/routes/tokenize.ts', 'gateways/', 'simulator/', 'test/'];

/** Who may read the environment: one place, the programs that are not the service, and what only passes it on. */
export const environmentReaders = ['platform/', 'simulator/main.ts', 'examples/', 'test/', 'bench/', 'vitest.config.ts'];
