// The enriched payment payload, version 3, carried by every payment event. Specification: Enriched payment payload.

export interface PaymentFacts {
  readonly id: string;
  readonly receiptNumber: string;
  /** Minor units; after a capture the captured amount. */
  readonly amountMinor: number;
  readonly currency: string;
  readonly status: string;
  readonly mode: 'test' | 'live';
  readonly source: string;
  readonly originDomain: string | null;
  readonly sessionId: string | null;
  readonly orderId: string | null;
  readonly gateway: { readonly name: string; readonly slug: string } | null;
  readonly cardBrand: string | null;
  readonly cardLast4: string | null;
  readonly customer: { readonly id: string | null; readonly name: string | null; readonly email: string | null; readonly phone: string | null };
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
  readonly capturedAt: Date | null;
  readonly tokenId: string | null;
}

/** Why a payment failed, on `payment.failed` and on the payment record. */
export interface PaymentFailure {
  readonly code: string;
  readonly decline_code: string | null;
  readonly message: string;
  readonly retryable: boolean;
}

export function presentPayment(payment: PaymentFacts, failure?: PaymentFailure) {
  return {
    id: payment.id,
    receipt_number: payment.receiptNumber,
    amount: payment.amountMinor,
    currency: payment.currency,
    status: payment.status,
    mode: payment.mode,
    source: payment.source,
    origin_domain: payment.originDomain,
    order_id: payment.sessionId ?? payment.orderId,
    gateway: payment.gateway,
    payment_link: null,
    payment_method: { type: 'card', card_brand: payment.cardBrand, card_last4: payment.cardLast4 },
    customer: payment.customer,
    custom_field_responses: [],
    metadata: payment.metadata,
    card_brand: payment.cardBrand,
    card_last4: payment.cardLast4,
    created_at: (payment.capturedAt ?? payment.createdAt).toISOString(),
    token_id: payment.tokenId,
    subscription_id: null,
    ...(failure === undefined ? {} : { failure }),
  };
}

/** `payment.voided`: the payload and why and when it was voided. */
export function presentVoid(payment: PaymentFacts, reason: string | null, voidedAt: Date) {
  return { ...presentPayment(payment), void: { reason, voided_at: voidedAt.toISOString() } };
}
