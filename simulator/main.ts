// The simulated gateway as a process of its own: opens the ledger, times pending refunds, listens on loopback, stops
// with its parent. Composition only. It prints one line of JSON when it listens.
import type { AddressInfo } from 'node:net';
import { loadKeys } from './keys.ts';
import { openLedger } from './ledger.ts';
import { createNotifier } from './notifier.ts';
import { settleRefund } from './operations.ts';
import type { OperationRow } from './rows.ts';
import { createSimulatorServer } from './server.ts';

// Its own few variables: this process shares nothing with the service, its configuration least of all.
const { SIMULATOR_PORT = '0', SIMULATOR_LEDGER, SIMULATOR_NOTIFY_URL, SIMULATOR_SECRET, SIMULATOR_PARENT_PIPE } = process.env;
const port = Number(SIMULATOR_PORT);
if (!Number.isInteger(port) || port < 0 || port > 65_535) exitWith(`SIMULATOR_PORT is not a port: ${SIMULATOR_PORT}`);
if (!SIMULATOR_LEDGER) exitWith('SIMULATOR_LEDGER must name the ledger file');

const secret = SIMULATOR_SECRET || null;
const notifier = createNotifier({ url: SIMULATOR_NOTIFY_URL || null, secret });
const ledger = openLedger(SIMULATOR_LEDGER, (error) => exitWith(`the ledger cannot be written: ${error.message}`));
const server = createSimulatorServer({ ledger, keys: loadKeys(SIMULATOR_LEDGER), notifier, secret, onPending: timeRefund });
ledger.pendingOperations().forEach(timeRefund);

server.on('error', (error: NodeJS.ErrnoException) => {
  exitWith(error.code === 'EADDRINUSE' ? `SIMULATOR_PORT ${port} is taken` : error.message);
});
server.listen(port, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ ready: true, port: (server.address() as AddressInfo).port })}\n`);
});

process.once('SIGTERM', stop);
process.once('SIGINT', stop);
if (SIMULATOR_PARENT_PIPE === '1') process.stdin.resume().once('end', stop).once('error', stop);

function timeRefund(row: OperationRow): void {
  const waitMs = Math.max(0, Date.parse(row.settlesAt ?? row.createdAt) - Date.now());
  setTimeout(() => {
    const settled = settleRefund(ledger, row, new Date());
    void ledger.settled().then(() => notifier.changed(settled));
  }, waitMs);
}

function stop(): void {
  server.close();
  void ledger.settled().then(() => process.exit(0));
}

function exitWith(message: string): never {
  process.stderr.write(`simulator: ${message}\n`);
  process.exit(1);
}
