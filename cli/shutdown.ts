// Ctrl-C and its kin. The first signal begins an orderly stop; another one a second or more later ends it at once.
// npm passes a terminal's Ctrl-C on to a process that has it already, so two within a second are one.

const sameSignalMs = 1_000;

/** Calls `stop` at the first SIGINT, SIGTERM or SIGHUP, then exits with `stop`'s code; `force` at an impatient second. */
export function onStopSignal(stop: (signal: NodeJS.Signals) => Promise<number>, force: () => void): void {
  let firstAt = 0;
  const handle = (signal: NodeJS.Signals): void => {
    if (firstAt === 0) {
      firstAt = Date.now();
      void stop(signal).then(
        (code) => process.exit(code),
        () => process.exit(1),
      );
      return;
    }
    if (Date.now() - firstAt < sameSignalMs) return;
    force();
    process.exit(130);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, handle);
}
