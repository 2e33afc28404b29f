// Tells a caller in this process that the operation it waits for was settled in this process. A short cut only: whoever
// misses a signal finds the same in the rows.

export interface SettleSignals {
  /** Resolves true when the operation is settled here, false after `waitMs`. */
  wait(operationId: string, waitMs: number): Promise<boolean>;
  settled(operationId: string): void;
}

export function createSettleSignals(): SettleSignals {
  const waiting = new Map<string, (settled: boolean) => void>();
  return {
    wait(operationId, waitMs) {
      return new Promise((resolve) => {
        const end = (settled: boolean): void => {
          clearTimeout(timer);
          waiting.delete(operationId);
          resolve(settled);
        };
        const timer = setTimeout(() => end(false), waitMs);
        waiting.set(operationId, end);
      });
    },
    settled: (operationId) => waiting.get(operationId)?.(true),
  };
}
