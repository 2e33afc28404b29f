// Which gateways are quick enough to be called inside a workflow task.
import type { Gateway } from './gateway.ts';

/** A workflow task has ten seconds; a charge of four, its claim and its settling fit one (docs/adr/0006). */
const taskBudgetMs = 4_000;

export function fitsATask(gateway: Pick<Gateway, 'capabilities'>): boolean {
  return gateway.capabilities.chargeTimeoutMs <= taskBudgetMs;
}
