// The page a customer pays on: an e-mail address, a saved card or a new one.
import { brandName } from './card-brand.ts';
import { AfterForm, BeforeForm, CardEntry, titleOfForm } from './card-entry.tsx';
import { newCard } from './card-form.ts';
import { CheckoutLayout } from './checkout-layout.tsx';
import { Field } from './field.tsx';
import { checkoutPath } from './page-props.ts';
import type { CheckoutPageProps } from './page-props.ts';

export function PayablePage(page: CheckoutPageProps) {
  const { view, messages, form, amount } = page;
  return (
    <CheckoutLayout page={page} title={titleOfForm(page, messages.payTitle(view.merchant.name))} due asksForCard>
      <h2>{messages.paymentDetails}</h2>
      <BeforeForm page={page} unreached={messages.gatewayUnavailable} />
      <CardEntry
        page={page}
        action={checkoutPath(view.token, 'pay')}
        label={messages.pay(amount.text(view.amountMinor))}
        notice={view.savePaymentMethod ? messages.saveNotice(view.merchant.name) : null}
      >
        <Field
          field="email"
          label={messages.email}
          optional={messages.optional}
          error={form.errors.email}
          input={{ inputMode: 'email', autoComplete: 'email', value: form.kept.email, maxLength: 254, dir: 'ltr' }}
        />
        <CardChoice page={page} />
      </CardEntry>
      <AfterForm page={page} cancelAction={checkoutPath(view.token, 'cancel')} cancelLabel={messages.cancel} />
    </CheckoutLayout>
  );
}

function CardChoice({ page }: { page: CheckoutPageProps }) {
  const { view, messages, form } = page;
  if (view.savedCards.length === 0) return form.errors.method === undefined ? null : <p class="field-error">{form.errors.method}</p>;
  return (
    <fieldset class="choice" aria-describedby={form.errors.method === undefined ? undefined : 'method-error'}>
      <legend>{messages.payWith}</legend>
      {form.errors.method !== undefined && (
        <p class="field-error" id="method-error">
          {form.errors.method}
        </p>
      )}
      {view.savedCards.map((card) => (
        <label class="option">
          <input type="radio" name="method" value={card.id} checked={form.kept.method === card.id} />
          <span class="option-text">
            <span>{messages.savedCard(brandName(card.brand), card.last4)}</span>
            <span class="line-note">{messages.savedCardExpires(`${String(card.expiryMonth).padStart(2, '0')}/${String(card.expiryYear % 100).padStart(2, '0')}`)}</span>
          </span>
        </label>
      ))}
      <label class="option">
        <input type="radio" name="method" id="method" value={newCard} checked={form.kept.method === newCard} />
        <span class="option-text">{messages.newCard}</span>
      </label>
    </fieldset>
  );
}
