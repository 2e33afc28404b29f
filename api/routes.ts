// THE routes table, in the order of the specification. Keys, limits, idempotency, validation, the OpenAPI document and the
// access tests all follow from these rows.
import type { Route } from './route.ts';
import { cardSetupRoutes } from './routes/card-setup.ts';
import { checkoutSessionRoutes } from './routes/checkout-sessions.ts';
import { customerRoutes } from './routes/customers.ts';
import { domainRoutes } from './routes/domains.ts';
import { idempotencyKeyRoutes } from './routes/idempotency-keys.ts';
import { meRoutes } from './routes/me.ts';
import { openApiRoutes } from './routes/openapi.ts';
import { paymentTokenRoutes } from './routes/payment-tokens.ts';
import { paymentRoutes } from './routes/payments.ts';
import { settingsRoutes } from './routes/settings.ts';
import { tokenizeRoutes } from './routes/tokenize.ts';
import { transactionRoutes } from './routes/transactions.ts';
import { webhookEndpointRoutes } from './routes/webhook-endpoints.ts';

export const routes: readonly Route[] = [
  ...checkoutSessionRoutes,
  ...paymentRoutes,
  ...tokenizeRoutes,
  ...paymentTokenRoutes,
  ...transactionRoutes,
  ...customerRoutes,
  ...cardSetupRoutes,
  ...webhookEndpointRoutes,
  ...domainRoutes,
  ...meRoutes,
  ...settingsRoutes,
  ...idempotencyKeyRoutes,
  ...openApiRoutes(() => routes),
];
