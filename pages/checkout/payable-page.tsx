// The form a customer pays with. It works as plain HTML; assets/checkout.js only makes it kinder. The number and the
// security code are never filled in by us.
import { CheckoutLayout } from './checkout-layout.tsx';
import { checkoutPath } from './page-props.ts';
import type { CheckoutPageProps } from './page-props.ts';
import type { CardField } from './card-form.ts';
import { newCard } from './card-form.ts';
import { brandName } from './card-brand.ts';
import { CardMarks } from './card-marks.tsx';
import { Field } from './field.tsx';
import { TestCards } from './test-cards.tsx';

const fieldOrder: readonly CardField[] = ['email', 'method', 'number', 'expiry', 'cvc', 'name'];

export function PayablePage(page: CheckoutPageProps) {
  const { view, messages, form, amount } = page;
  const wrong = fieldOrder.some((field) => form.errors[field] !== undefined);
  const title = messages.payTitle(view.merchant.name);
  return (
    <CheckoutLayout page={page} title={wrong || form.gatewayUnavailable ? messages.errorPrefix + title : title} due asksForCard>
      <h2>{messages.paymentDetails}</h2>
      {view.mode === 'test' && <TestCards page={page} />}
      {form.gatewayUnavailable && <NotCharged page={page} />}
      <ErrorSummary page={page} />
      <form
        class="pay"
        method="post"
        action={checkoutPath(view.token, 'pay')}
        novalidate
        data-messages={JSON.stringify({ ...messages.problems, title: messages.errorTitle, cvcHint: messages.cvcHint, cvcHintAmex: messages.cvcHintAmex })}
      >
        <input type="hidden" name="form_token" value={page.formToken} />
        <Field
          field="email"
          label={messages.email}
          optional={messages.optional}
          error={form.errors.email}
          input={{ inputMode: 'email', autoComplete: 'email', value: form.kept.email, maxLength: 254, dir: 'ltr' }}
        />
        <CardChoice page={page} />
        <CardFields page={page} />
        <button class="primary" type="submit">
          <span class="label">{messages.pay(amount.text(view.amountMinor))}</span>
          <span class="busy" aria-hidden="true">
            <span class="spinner" />
            {messages.busy}
          </span>
        </button>
        <p class="visually-hidden" id="live" aria-live="polite" data-busy={messages.busy} />
        {view.savePaymentMethod && <p class="note">{messages.saveNotice(view.merchant.name)}</p>}
      </form>
      {view.cancelUrl !== null && (
        <form class="cancel" method="post" action={checkoutPath(view.token, 'cancel')}>
          <input type="hidden" name="form_token" value={page.formToken} />
          <button class="quiet" type="submit">
            {messages.cancel}
          </button>
        </form>
      )}
      <footer class="note foot">
        <Lock />
        <span>{messages.secureNote}</span>
      </footer>
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

function CardFields({ page }: { page: CheckoutPageProps }) {
  const { messages, form } = page;
  return (
    <div class="new-card">
      <Field field="number" label={messages.number} error={form.errors.number} input={{ inputMode: 'numeric', autoComplete: 'cc-number', maxLength: 30, placeholder: '1234 1234 1234 1234', dir: 'ltr' }}>
        <CardMarks />
      </Field>
      <div class="pair">
        <Field field="expiry" label={messages.expiry} error={form.errors.expiry} input={{ inputMode: 'numeric', autoComplete: 'cc-exp', maxLength: 12, placeholder: messages.expiryHint, dir: 'ltr' }} />
        <Field field="cvc" label={messages.cvc} hint={messages.cvcHint} error={form.errors.cvc} input={{ inputMode: 'numeric', autoComplete: 'cc-csc', maxLength: 6, dir: 'ltr' }} />
      </div>
      <Field field="name" label={messages.name} error={form.errors.name} input={{ autoComplete: 'cc-name', value: form.kept.name, maxLength: 200, dir: 'auto' }} />
    </div>
  );
}

/** Gets the focus: `autofocus` where there is no script. Each line leads to its field. */
function ErrorSummary({ page }: { page: CheckoutPageProps }) {
  const { messages, form } = page;
  const wrong = fieldOrder.filter((field) => form.errors[field] !== undefined);
  return (
    <div class="alert error-summary" id="errors" tabindex={-1} role="group" aria-labelledby="errors-title" autofocus={wrong.length > 0} hidden={wrong.length === 0}>
      <p class="alert-title" id="errors-title">
        {messages.errorTitle}
      </p>
      <ul>
        {wrong.map((field) => (
          <li>
            <a href={`#${field}`}>{form.errors[field]}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function NotCharged({ page }: { page: CheckoutPageProps }) {
  const { title, text } = page.messages.gatewayUnavailable;
  return (
    <div class="alert" id="not-charged" tabindex={-1} role="group" aria-labelledby="not-charged-title" autofocus>
      <p class="alert-title" id="not-charged-title">
        {title}
      </p>
      <p>{text}</p>
    </div>
  );
}

function Lock() {
  return (
    <svg class="lock" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d="M4.5 7V5a3.5 3.5 0 0 1 7 0v2" fill="none" stroke="currentColor" stroke-width="1.5" />
      <rect x="3" y="7" width="10" height="7" rx="1.5" fill="currentColor" />
    </svg>
  );
}
