// One Temporal worker per task queue, in one process. It runs until stopped; a worker that fails is replaced.
import { DefaultLogger, makeTelemetryFilterString, type NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { setTimeout as pause } from 'node:timers/promises';
import type { TaskQueue } from '../temporal/contract.ts';
import { taskQueues } from '../temporal/contract.ts';

export interface WorkersOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly queuePrefix: string;
  /** File of the bundled workflow code. */
  readonly bundlePath: string;
  /** Activities by queue; a queue that is left out is not worked on here. */
  readonly activities: Partial<Readonly<Record<TaskQueue, object>>>;
  readonly log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

export interface RunningWorkers {
  /** Resolves when tasks under way have finished or were given up. */
  stop(): Promise<void>;
}

const restartPauseMs = 2_000;

// Slots well beyond the pollers: a start is eager only while a slot is free (ADR 0006).
const tuning = {
  maxConcurrentWorkflowTaskExecutions: 100,
  maxConcurrentLocalActivityExecutions: 200,
  maxConcurrentActivityTaskExecutions: 100,
  maxCachedWorkflows: 600,
  stickyQueueScheduleToStartTimeout: '5s',
  shutdownGraceTime: '10s',
  // Without it a local activity that retries for ever keeps the worker draining.
  shutdownForceTime: '12s',
} as const satisfies Partial<WorkerOptions>;

/** The SDK allows one runtime per process and would otherwise take our signals for itself. */
export function installTemporalRuntime(log: WorkersOptions['log']): void {
  try {
    Runtime.install({
      shutdownSignals: [],
      // Forwarded to our log instead of printed over it.
      telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN' }), forward: {} } },
      logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
        // So it is meant: that queue has attempts to make and nothing to wait for.
        if (message.startsWith('No workflows registered')) return;
        const { error, ...rest } = meta ?? {};
        const fields = { ...rest, ...(error === undefined ? {} : { err: error as unknown }) };
        if (level === 'ERROR') log.error(fields, message);
        else log.warn(fields, message);
      }),
    });
  } catch {
    // Installed already: by another service in the same process, with the same settings.
  }
}

/** Resolves when every worker polls. */
export async function startWorkers(options: WorkersOptions): Promise<RunningWorkers> {
  const queues = Object.keys(options.activities) as TaskQueue[];
  const running = await Promise.all(queues.map((queue) => startOne(options, queue)));
  return {
    async stop() {
      await Promise.all(running.map((worker) => worker.stop()));
    },
  };
}

async function startOne(options: WorkersOptions, queue: TaskQueue): Promise<RunningWorkers> {
  const create = (): Promise<Worker> =>
    Worker.create({
      ...tuning,
      connection: options.connection,
      namespace: options.namespace,
      taskQueue: options.queuePrefix + taskQueues[queue],
      // Workflows run on the payments queue only: each worker with workflows holds their code in an isolate of 40 MB.
      ...(queue === 'payments' ? { workflowBundle: { codePath: options.bundlePath } } : {}),
      activities: options.activities[queue] ?? {},
    });
  let worker = await create();
  let stopping = false;
  const loop = (async () => {
    for (;;) {
      try {
        await worker.run();
      } catch (error) {
        options.log.error({ err: error, queue }, 'a Temporal worker failed; another one takes its place');
      }
      while (!stopping) {
        await pause(restartPauseMs);
        try {
          worker = await create();
          break;
        } catch (error) {
          options.log.error({ err: error, queue }, 'a Temporal worker could not be started');
        }
      }
      if (stopping) return;
    }
  })();
  return {
    async stop() {
      stopping = true;
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await loop;
    },
  };
}
