// The stateful mock ships no types: the one function the stand-in uses.
declare module 'stripe-stateful-mock' {
  import type { RequestListener } from 'node:http';
  const mock: { createExpressApp(): RequestListener };
  export = mock;
}
