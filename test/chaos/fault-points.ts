// The instants at which a process is killed, in the order a payment passes them. Names only.

export const createPoints = ['before-create', 'after-create'] as const;
/** In the process that serves the form. */
export const formPoints = ['before-attempt-row', 'after-attempt-row'] as const;
/** In the worker. */
export const chargePoints = ['before-claim', 'after-claim', 'before-send', 'after-send', 'after-ledger', 'before-commit', 'after-commit', 'before-webhook'] as const;
export const faultPoints = [...createPoints, ...formPoints, ...chargePoints] as const;
export type FaultPoint = (typeof faultPoints)[number];
