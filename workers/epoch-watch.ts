// Notices that Temporal is not the server it was (a new one, or one that came back empty): then everything that should be
// known there is made again. The namespace's id tells; Postgres remembers the last one seen.
import type { Client } from '@temporalio/client';
import type { Database } from '../models/database.ts';
import { forgetStartedWorkflows } from '../models/session-moves.ts';
import { readFact, writeFact } from '../models/system-fact.ts';
import { installNamespace, readNamespaceId } from '../temporal/installation.ts';

export interface EpochWatchDeps {
  readonly client: Client;
  readonly db: Database;
  readonly queuePrefix: string;
  /** Makes up at once for what the lost server no longer knows. */
  readonly sweep: () => Promise<unknown>;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** The Schedule is gone with the old server, so nobody else would notice. */
const everyMs = 15_000;

/** Installs the namespace, then looks again every 15 s. @returns what stops it */
export async function watchEpoch(deps: EpochWatchDeps): Promise<() => void> {
  const fact = `temporal-namespace:${deps.queuePrefix}${deps.client.options.namespace}`;
  let seen: string | null = null;
  const look = async (): Promise<void> => {
    const id = await readNamespaceId(deps.client);
    if (id === seen) return;
    await installNamespace(deps.client, deps.queuePrefix);
    const stored = await readFact(deps.db, fact);
    if (stored !== id) {
      if (stored !== null) deps.log.warn({ namespace: deps.client.options.namespace }, 'Temporal is another server than before: workflows are started again from their rows');
      await forgetStartedWorkflows(deps.db);
      await writeFact(deps.db, fact, id);
    }
    seen = id;
    await deps.sweep();
  };
  await look();
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    look()
      .catch((error: unknown) => deps.log.warn({ err: error }, 'Temporal could not be asked which server it is'))
      .finally(() => {
        looking = false;
      });
  }, everyMs);
  return () => clearInterval(timer);
}
