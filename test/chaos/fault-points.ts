// The instants at which a process is killed, in the order a payment passes them. Names only.

export const createPoints = ['before-create', 'after-create'] as const;
/** In the process that serves the form. */
export const formPoints = ['before-attempt-row', 'after-attempt-row'] as const;
/** In the worker. */
export const chargePoints = ['before-claim', 'after-claim', 'before-send', 'after-send', 'after-ledger', 'before-commit', 'after-commit', 'before-webhook'] as const;
/** Operations of merchants without a page. */
export const moneyKinds = ['charge-token', 'refund', 'capture', 'void'] as const;
export type MoneyKind = (typeof moneyKinds)[number];
/** Around the statement that begins an operation; in the API. */
export const beginPoints = ['before-begin', 'after-begin'] as const;
export type MoneyPoint = `${MoneyKind}/${(typeof beginPoints)[number] | (typeof chargePoints)[number]}`;
const moneyPoints = moneyKinds.flatMap((kind) => [...beginPoints, ...chargePoints].map((point): MoneyPoint => `${kind}/${point}`));
export const faultPoints = [...createPoints, ...formPoints, ...chargePoints, ...moneyPoints] as const;
export type FaultPoint = (typeof createPoints)[number] | (typeof formPoints)[number] | (typeof chargePoints)[number] | MoneyPoint;
