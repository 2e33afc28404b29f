// The only reader of the environment: every variable of the service, checked at once, frozen. Knows names, forms and
// defaults; opens nothing but the files that variables point at. Architecture: running it.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { environment } from './environment.ts';
import type { Reader } from './environment.ts';

/** Which command reads: `start` provides what is missing, the others need it given. */
export type Role = 'start' | 'api' | 'worker' | 'migrate' | 'tool';

export interface TemporalTls {
  readonly serverName?: string;
  readonly serverRootCaCertificate?: Buffer;
  readonly clientCertPair?: { readonly crt: Buffer; readonly key: Buffer };
}

export interface Config {
  readonly role: Role;
  readonly production: boolean;
  /** TCP port of API and pages; 0 takes any free one. */
  readonly port: number;
  /** Address customers reach us by, no trailing slash. With PORT=0 and no PUBLIC_URL its port is 0 until we listen. */
  readonly publicUrl: string;
  /** Absolute path. */
  readonly dataDir: string;
  /** null: run the embedded one (`start` only). */
  readonly databaseUrl: string | null;
  readonly temporal: {
    /** null: run the development server (`start` only). */
    readonly address: string | null;
    readonly namespace: string;
    readonly apiKey: string | null;
    readonly tls: TemporalTls | true | null;
    /** Ports of the development server. */
    readonly port: number;
    readonly uiPort: number;
    /** Where operators find the UI; null: the development server's, or none. */
    readonly uiUrl: string | null;
  };
  readonly simulator: {
    readonly port: number;
    /** Where it runs when this process does not start it. */
    readonly url: string | null;
    readonly secret: string | null;
    /** Whether live keys may use it. */
    readonly live: boolean;
  };
  /** Whether test-mode webhooks may go to this machine. */
  readonly webhookAllowLoopback: boolean;
  readonly publicPostsPerMinute: number;
  readonly smtpUrl: string | null;
  /** Addresses and CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** The first signs and encrypts, all verify and decrypt. Empty for `start` (which makes one), `migrate` and tools that need none. */
  readonly masterKeys: readonly string[];
  readonly logLevel: LogLevel;
  /** null: /metrics is served on PORT, to loopback alone. */
  readonly metricsPort: number | null;
  /** Milliseconds HTTP may drain at shutdown. */
  readonly drainMs: number;
}

export type LogLevel = (typeof logLevels)[number];
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Everything wrong with the environment, one line per variable, in one error. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration is not right:\n${problems.map((line) => `  ${line}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * @param env usually process.env; an empty string counts as unset
 * @throws ConfigError naming every wrong variable
 */
export function readConfig(env: NodeJS.ProcessEnv, role: Role = 'tool'): Config {
  const read = environment(env);
  const production = read.oneOf('NODE_ENV', ['production', 'development', 'test'], 'development') === 'production';
  const development = role === 'start' && !production;
  const port = read.port('PORT', 3000);
  const dataDir = resolve(read.text('DATA_DIR') ?? '.data');
  const config: Config = {
    role,
    production,
    port,
    publicUrl: (read.url('PUBLIC_URL', ['http:', 'https:']) ?? `http://localhost:${port}`).replace(/\/+$/, ''),
    dataDir,
    databaseUrl: read.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    temporal: readTemporal(read),
    simulator: {
      port: read.port('SIMULATOR_PORT', 3030),
      url: read.url('SIMULATOR_URL', ['http:', 'https:'])?.replace(/\/+$/, '') ?? null,
      secret: read.text('SIMULATOR_SECRET'),
      live: read.flag('SIMULATOR_LIVE', development),
    },
    webhookAllowLoopback: read.flag('WEBHOOK_ALLOW_LOOPBACK', development),
    publicPostsPerMinute: read.integer('PUBLIC_POSTS_PER_MINUTE', 60, 1, 1_000_000),
    smtpUrl: read.url('SMTP_URL', ['smtp:', 'smtps:']),
    trustedProxies: read.list('TRUSTED_PROXIES', (item) => (isAddressOrRange(item) ? null : `"${item}" is neither an IP address nor a CIDR range`)),
    masterKeys: readMasterKeys(read, { role, production, dataDir }),
    logLevel: read.oneOf('LOG_LEVEL', logLevels, 'info'),
    metricsPort: read.optionalPort('METRICS_PORT'),
    drainMs: read.integer('SHUTDOWN_DRAIN_MS', 10_000, 0, 600_000),
  };
  const needsGiven = role === 'api' || role === 'worker';
  if ((needsGiven || role === 'migrate') && config.databaseUrl === null) read.problem('DATABASE_URL', 'is required: the address of a Postgres 14 or newer (only "npm start" brings its own)');
  if (needsGiven && config.temporal.address === null) read.problem('TEMPORAL_ADDRESS', 'is required: host:port of a Temporal server (only "npm start" brings its own)');
  const problems = read.problems();
  if (problems.length > 0) throw new ConfigError(problems);
  return deepFreeze(config);
}

// The standard variables of Temporal's own tools. A key without TEMPORAL_TLS=false means TLS, as it does there.
function readTemporal(read: Reader): Config['temporal'] {
  const apiKey = read.text('TEMPORAL_API_KEY');
  const crt = read.material('TEMPORAL_TLS_CLIENT_CERT');
  const key = read.material('TEMPORAL_TLS_CLIENT_KEY');
  const serverRootCaCertificate = read.material('TEMPORAL_TLS_SERVER_CA_CERT');
  const serverName = read.text('TEMPORAL_TLS_SERVER_NAME');
  if ((crt === null) !== (key === null)) read.problem('TEMPORAL_TLS_CLIENT_CERT_PATH', 'and TEMPORAL_TLS_CLIENT_KEY_PATH go together: one of them is missing');
  if (read.flag('TEMPORAL_TLS_DISABLE_HOST_VERIFICATION', false)) read.problem('TEMPORAL_TLS_DISABLE_HOST_VERIFICATION', 'is not supported: give the authority as TEMPORAL_TLS_SERVER_CA_CERT_PATH');
  const details: TemporalTls = {
    ...(serverName === null ? {} : { serverName }),
    ...(serverRootCaCertificate === null ? {} : { serverRootCaCertificate }),
    ...(crt === null || key === null ? {} : { clientCertPair: { crt, key } }),
  };
  const hasDetails = Object.keys(details).length > 0;
  const wanted = read.flag('TEMPORAL_TLS', hasDetails || apiKey !== null);
  return {
    address: read.hostAndPort('TEMPORAL_ADDRESS'),
    namespace: read.text('TEMPORAL_NAMESPACE') ?? 'default',
    apiKey,
    tls: wanted ? (hasDetails ? details : true) : null,
    port: read.port('TEMPORAL_PORT', 7233),
    uiPort: read.port('TEMPORAL_UI_PORT', 8233),
    uiUrl: read.url('TEMPORAL_UI_URL', ['http:', 'https:'])?.replace(/\/+$/, '') ?? null,
  };
}

/** Where `npm start` keeps the key it made. */
export function masterKeyFile(dataDir: string): string {
  return join(dataDir, 'master.key');
}

// 32 characters: 128 bits even when somebody writes hex.
function readMasterKeys(read: Reader, where: { role: Role; production: boolean; dataDir: string }): readonly string[] {
  const check = (item: string): string | null => (item.length >= 32 ? null : 'each key needs at least 32 characters (try: openssl rand -base64 32)');
  const given = read.list('MASTER_KEY', check);
  if (given.length > 0 || where.role === 'migrate') return given;
  if (where.production && where.role !== 'tool') {
    read.problem('MASTER_KEY', 'is required in production: one or more keys of at least 32 characters, separated by commas, the current one first');
    return [];
  }
  const kept = masterKeyFile(where.dataDir);
  if (existsSync(kept)) return read.listIn(kept, check);
  if (where.role === 'api' || where.role === 'worker') read.problem('MASTER_KEY', `is required: the same for all processes (there is none in ${where.dataDir} either)`);
  return [];
}

/** Whether a text is an IP address or a CIDR range. */
function isAddressOrRange(text: string): boolean {
  return text.includes('/') ? ipaddr.isValidCIDR(text) : ipaddr.isValid(text) && /[.:]/.test(text);
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null && !Buffer.isBuffer(inner)) deepFreeze(inner as object);
  }
  return Object.freeze(value);
}
