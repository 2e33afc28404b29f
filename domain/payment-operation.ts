// A capture's or void's states and every legal move. The payment it belongs to is `processing` while the answer is unknown.
// docs/states.md is drawn from this table.
export const operationStatuses = ['requested', 'claimed', 'unknown', 'succeeded', 'failed', 'unreached'] as const;
export type OperationStatus = (typeof operationStatuses)[number];

export const operationTransitions = [
  { from: 'requested', to: 'claimed', by: 'a worker takes it, before the gateway hears of it' },
  { from: 'claimed', to: 'succeeded', by: 'gateway did it' },
  { from: 'claimed', to: 'failed', by: 'gateway refuses' },
  { from: 'claimed', to: 'unreached', by: 'nobody was reached' },
  { from: 'claimed', to: 'unknown', by: 'the answer is lost' },
  { from: 'unknown', to: 'succeeded', by: 'look-up finds it done' },
  { from: 'unknown', to: 'failed', by: 'look-up finds it refused' },
  { from: 'unknown', to: 'unreached', by: 'look-up finds nothing once that is final' },
] as const satisfies readonly { from: OperationStatus; to: OperationStatus; by: string }[];
