// POST /checkout/{token}/pay: Post/Redirect/Get. Only a form that was surely not charged is drawn again; every other
// answer is a 303, so that reload and the back button never send a card twice.
import type { PayResult } from '../deps.ts';
import { seeOther } from '../respond.tsx';
import type { Messages } from '../text/messages.ts';
import type { CardField, CardProblems, KeptFields } from './card-form.ts';
import { readCardForm } from './card-form.ts';
import type { CheckoutRequest } from './open-page.tsx';
import { showPhase } from './open-page.tsx';
import { checkoutPath } from './page-props.ts';

/** @param fields the posted form, already known to be ours */
export async function pay(request: CheckoutRequest, fields: URLSearchParams): Promise<void> {
  const { deps, view } = request;
  const savedTokenIds = view.savedCards.map((card) => card.id);
  const form = readCardForm(fields, savedTokenIds, deps.now());
  if (form.kind === 'incomplete') return refuseForm(request, form.kept, sentences(request, form.problems));
  const result = await deps.checkout.requestPayment(view, form.card, form.payer);
  await answerPayment(request, result, form.kept);
}

async function answerPayment(request: CheckoutRequest, result: PayResult, kept: KeptFields): Promise<void> {
  const { ctx, view, security } = request;
  switch (result.kind) {
    case 'redirect':
      return seeOther(ctx, result.to, security);
    case 'processing':
    case 'refused':
      return seeOther(ctx, checkoutPath(view.token), security);
    case 'card_rejected':
      return refuseForm(request, kept, { [result.field]: result.message });
    case 'try_again':
      ctx.set('Retry-After', '5');
      return showPhase(request, 503, { kept, errors: {}, gatewayUnavailable: true });
    default:
      return result satisfies never;
  }
}

function refuseForm(request: CheckoutRequest, kept: KeptFields, errors: Partial<Record<CardField, string>>): Promise<void> {
  return showPhase(request, 422, { kept, errors, gatewayUnavailable: false });
}

/** The sentences beside the fields. */
export function sentences({ messages }: { readonly messages: Messages }, problems: CardProblems): Partial<Record<CardField, string>> {
  return Object.fromEntries(Object.entries(problems).map(([field, problem]) => [field, messages.problems[problem]]));
}
