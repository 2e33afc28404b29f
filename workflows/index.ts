// Every workflow type the workers offer; Temporal bundles this file.
export { checkoutSession } from './checkout-session.ts';
export { sweep } from './sweep.ts';
export { webhookDelivery } from './webhook-delivery.ts';
