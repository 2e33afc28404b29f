// One role of the service that kills itself, as by `kill -9`, at a named point of a payment, and never gets past it.
// The points are put around the parts from outside; nothing of this can be reached from the product's own entries.
// Usage: node --import tsx test/chaos/faulty-role.ts <api|worker> <point>
import { startService, type ServiceWrap } from '../../cli/compose.ts';
import type { Gateway } from '../../gateways/gateway.ts';
import type { Database, Statement } from '../../models/database.ts';
import { readConfig } from '../../platform/config.ts';
import { createLog } from '../../platform/log.ts';
import { type FaultPoint, faultPoints } from './fault-points.ts';

const [role, point] = process.argv.slice(2) as ['api' | 'worker', FaultPoint];
if (!faultPoints.includes(point) || (role !== 'api' && role !== 'worker')) throw new Error(`usage: faulty-role.ts api|worker ${faultPoints.join('|')}`);

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal is delivered before this returns to the event loop; should it not be, nothing further must happen.
  for (;;);
}

const around: Partial<Record<FaultPoint, { statement: string; when: 'before' | 'after' }>> = {
  'before-create': { statement: 'create-session', when: 'before' },
  'after-create': { statement: 'create-session', when: 'after' },
  'before-attempt-row': { statement: 'request-attempt', when: 'before' },
  'after-attempt-row': { statement: 'request-attempt', when: 'after' },
  'before-claim': { statement: 'claim-attempt', when: 'before' },
  'after-claim': { statement: 'claim-attempt', when: 'after' },
  'before-commit': { statement: 'settle-attempt', when: 'before' },
  'after-commit': { statement: 'settle-attempt', when: 'after' },
};

const wrap: ServiceWrap = {
  database(db: Database): Database {
    const fault = around[point];
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
    if (point !== 'before-send' && point !== 'after-send' && point !== 'after-ledger') return gateway;
    return {
      ...gateway,
      async charge(request, call) {
        if (point === 'before-send') die();
        const answer = gateway.charge(request, call);
        // Two turns of the loop are enough for the request to be on the wire and too few for the answer.
        if (point === 'after-send') setImmediate(() => setImmediate(die));
        const outcome = await answer;
        if (point === 'after-ledger') die();
        return outcome;
      },
    };
  },
  offer: (offer) => (deliveries) => {
    // The sweep of the worker's own start may offer what came before.
    if (point === 'before-webhook' && deliveries.some((delivery) => delivery.eventType === 'payment.completed')) die();
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
