// One role of the service that kills itself, as by `kill -9`, at a named point of a payment, and never gets past it.
// The points are put around the parts from outside; nothing of this can be reached from the product's own entries.
// Usage: node --import tsx test/chaos/faulty-role.ts <api|worker> <point>
import { startService, type ServiceWrap } from '../../cli/compose.ts';
import type { Gateway } from '../../gateways/gateway.ts';
import type { Database, Statement } from '../../models/database.ts';
import { readConfig } from '../../platform/config.ts';
import { createLog } from '../../platform/log.ts';
import { type FaultPoint, faultPoints, type MoneyKind } from './fault-points.ts';

const [role, point] = process.argv.slice(2) as ['api' | 'worker', FaultPoint];
if (!faultPoints.includes(point) || (role !== 'api' && role !== 'worker')) throw new Error(`usage: faulty-role.ts api|worker ${faultPoints.join('|')}`);

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal is delivered before this returns to the event loop; should it not be, nothing further must happen.
  for (;;);
}

/** `refund/after-send` is the point `after-send` of a refund; without a kind it is one of a payment by the page. */
const [kind, step] = point.includes('/') ? (point.split('/') as [MoneyKind, string]) : [null, point as string];

const moneyStatements: Readonly<Record<MoneyKind, string>> = { 'charge-token': 'direct-charge', refund: 'refund', capture: 'payment-operation', void: 'payment-operation' };
const verbs: Readonly<Record<string, string>> = { begin: 'begin', claim: 'claim', commit: 'settle' };

interface Fault {
  readonly statement: string;
  readonly when: 'before' | 'after';
}

function moneyFault(of: MoneyKind): Fault | undefined {
  const [when, verb = ''] = step.split('-');
  const statement = verbs[verb];
  return statement === undefined ? undefined : { statement: `${statement}-${moneyStatements[of]}`, when: when as Fault['when'] };
}

const pageFaults: Readonly<Record<string, Fault>> = {
  'before-create': { statement: 'create-session', when: 'before' },
  'after-create': { statement: 'create-session', when: 'after' },
  'before-attempt-row': { statement: 'request-attempt', when: 'before' },
  'after-attempt-row': { statement: 'request-attempt', when: 'after' },
  'before-claim': { statement: 'claim-attempt', when: 'before' },
  'after-claim': { statement: 'claim-attempt', when: 'after' },
  'before-commit': { statement: 'settle-attempt', when: 'before' },
  'after-commit': { statement: 'settle-attempt', when: 'after' },
};

const announced = kind === 'refund' ? 'payment.refunded' : kind === 'void' ? 'payment.voided' : 'payment.completed';

const wrap: ServiceWrap = {
  database(db: Database): Database {
    const fault = kind === null ? pageFaults[point] : moneyFault(kind);
    if (fault === undefined) return db;
    return {
      ...db,
      async runAlone<Row extends object>(statement: Statement, values: readonly unknown[]) {
        const hit = statement.name === fault.statement;
        if (hit && fault.when === 'before') die();
        const rows = await db.runAlone<Row>(statement, values);
        if (hit && fault.when === 'after') die();
        return rows;
      },
    };
  },
  gateway(gateway: Gateway): Gateway {
    if (step !== 'before-send' && step !== 'after-send' && step !== 'after-ledger') return gateway;
    const dying =
      <Request, Call, Outcome>(send: (request: Request, call: Call) => Promise<Outcome>) =>
      async (request: Request, call: Call): Promise<Outcome> => {
        if (step === 'before-send') die();
        const answer = send(request, call);
        // Two turns of the loop are enough for the request to be on the wire and too few for the answer.
        if (step === 'after-send') setImmediate(() => setImmediate(die));
        const outcome = await answer;
        if (step === 'after-ledger') die();
        return outcome;
      };
    if (kind === 'refund') return { ...gateway, refundCharge: dying((request: Parameters<Gateway['refundCharge']>[0], call: Parameters<Gateway['refundCharge']>[1]) => gateway.refundCharge(request, call)) };
    if (kind === 'capture') return { ...gateway, captureCharge: dying((request: Parameters<Gateway['captureCharge']>[0], call: Parameters<Gateway['captureCharge']>[1]) => gateway.captureCharge(request, call)) };
    if (kind === 'void') return { ...gateway, voidCharge: dying((request: Parameters<Gateway['voidCharge']>[0], call: Parameters<Gateway['voidCharge']>[1]) => gateway.voidCharge(request, call)) };
    return { ...gateway, charge: dying((request: Parameters<Gateway['charge']>[0], call: Parameters<Gateway['charge']>[1]) => gateway.charge(request, call)) };
  },
  offer: (offer) => (deliveries) => {
    // The sweep of the worker's own start may offer what came before.
    if (step === 'before-webhook' && deliveries.some((delivery) => delivery.eventType === announced)) die();
    offer(deliveries);
  },
};

const config = readConfig(process.env, role);
const log = createLog({ level: config.logLevel, name: `faulty-${role}` });
const { databaseUrl, temporal, simulator } = config;
if (databaseUrl === null || temporal.address === null) throw new Error('DATABASE_URL and TEMPORAL_ADDRESS are needed');
await startService({
  config,
  log,
  databaseUrl,
  temporalAddress: temporal.address,
  masterKeys: config.masterKeys,
  simulator: simulator.url === null ? null : { url: simulator.url, secret: simulator.secret },
  roles: { api: role === 'api', worker: role === 'worker' },
  wrap,
});
log.info({ point }, `${role} is ready`);
