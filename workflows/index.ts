// Every workflow type the workers offer; Temporal bundles this file.
export { cardSetup } from './card-setup.ts';
export { checkoutSession } from './checkout-session.ts';
export { compensateCapture } from './late-capture.ts';
export { capturePayment, chargePayment, lapseAuthorization, refundPayment, voidPayment } from './payment.ts';
export { sweep } from './sweep.ts';
export { webhookDelivery } from './webhook-delivery.ts';
