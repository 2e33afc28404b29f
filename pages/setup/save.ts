// POST /setup/{token}/save and /cancel: Post/Redirect/Get. Only a form whose card was surely not saved is drawn again.
import { type CardField, type KeptFields, readCardForm } from '../checkout/card-form.ts';
import { sentences } from '../checkout/pay.ts';
import { wayBack } from '../checkout/way-back.ts';
import type { CardSetupView } from '../deps.ts';
import { seeOther } from '../respond.tsx';
import { setupPath, type SetupRequest, showSetup } from './open-page.tsx';

/** @param fields the posted form, already known to be ours */
export async function saveCard(request: SetupRequest, fields: URLSearchParams): Promise<void> {
  const { ctx, deps, view } = request;
  // There is nothing to choose from here: every form brings a card of its own.
  fields.delete('method');
  const form = readCardForm(fields, [], deps.now());
  if (form.kind === 'incomplete') return refuse(request, form.kept, sentences(request, form.problems));
  if ('savedTokenId' in form.card) throw new Error('a form without a choice chose a saved card');
  const result = await deps.setup.saveCard(view, form.card);
  switch (result.kind) {
    case 'over':
      return leave(request, result.status);
    case 'card_rejected':
      return refuse(request, form.kept, { [result.field]: result.message });
    case 'try_again':
      ctx.set('Retry-After', '5');
      return showSetup(request, 503, { kept: form.kept, errors: {}, gatewayUnavailable: true });
    default:
      return result satisfies never;
  }
}

export async function cancelSetup(request: SetupRequest): Promise<void> {
  const { deps, view } = request;
  leave(request, view.cancelUrl === null ? 'open' : await deps.setup.cancelSetup(view));
}

/** On to the merchant; who comes too late is shown what became of it. */
function leave({ ctx, view, security }: SetupRequest, status: CardSetupView['phase']): void {
  const back = status === 'expired' ? null : wayBack({ ...view, phase: status });
  seeOther(ctx, back ?? setupPath(view.token), security);
}

function refuse(request: SetupRequest, kept: KeptFields, errors: Partial<Record<CardField, string>>): Promise<void> {
  return showSetup(request, 422, { kept, errors, gatewayUnavailable: false });
}
