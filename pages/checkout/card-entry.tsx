// The form a card is typed into, for every page that asks for one. It works as plain HTML; assets/checkout.js only makes it
// kinder. The number and the security code are never filled in by us.
import type { ComponentChildren } from 'preact';
import type { CardField } from './card-form.ts';
import { CardMarks } from './card-marks.tsx';
import { Field } from './field.tsx';
import type { HostedPageProps } from './page-props.ts';
import { TestCards } from './test-cards.tsx';

const fieldOrder: readonly CardField[] = ['email', 'method', 'number', 'expiry', 'cvc', 'name'];

/** The page's title; a form that came back says so first. */
export function titleOfForm({ messages, form }: HostedPageProps, title: string): string {
  const wrong = fieldOrder.some((field) => form.errors[field] !== undefined);
  return wrong || form.gatewayUnavailable ? messages.errorPrefix + title : title;
}

/** What stands above the form: test cards, and what was wrong with the last try. */
export function BeforeForm({ page, unreached }: { page: HostedPageProps; unreached: { readonly title: string; readonly text: string } }) {
  return (
    <>
      {page.view.mode === 'test' && <TestCards page={page} />}
      {page.form.gatewayUnavailable && <Unreached {...unreached} />}
      <ErrorSummary page={page} />
    </>
  );
}

export interface CardEntryProps {
  readonly page: HostedPageProps;
  readonly action: string;
  readonly label: string;
  /** What the customer agrees to by sending the form. */
  readonly notice: string | null;
  /** Fields before the card's. */
  readonly children?: ComponentChildren;
}

export function CardEntry({ page, action, label, notice, children }: CardEntryProps) {
  const { messages } = page;
  return (
    <form
      class="pay"
      method="post"
      action={action}
      novalidate
      data-messages={JSON.stringify({ ...messages.problems, title: messages.errorTitle, cvcHint: messages.cvcHint, cvcHintAmex: messages.cvcHintAmex })}
    >
      <input type="hidden" name="form_token" value={page.formToken} />
      {children}
      <CardFields page={page} />
      <button class="primary" type="submit">
        <span class="label">{label}</span>
        <span class="busy" aria-hidden="true">
          <span class="spinner" />
          {messages.busy}
        </span>
      </button>
      <p class="visually-hidden" id="live" aria-live="polite" data-busy={messages.busy} />
      {notice !== null && <p class="note">{notice}</p>}
    </form>
  );
}

/** What stands below the form: the way out, where there is one, and where the number goes. */
export function AfterForm({ page, cancelAction, cancelLabel }: { page: HostedPageProps; cancelAction: string; cancelLabel: string }) {
  return (
    <>
      {page.view.cancelUrl !== null && (
        <form class="cancel" method="post" action={cancelAction}>
          <input type="hidden" name="form_token" value={page.formToken} />
          <button class="quiet" type="submit">
            {cancelLabel}
          </button>
        </form>
      )}
      <footer class="note foot">
        <Lock />
        <span>{page.messages.secureNote}</span>
      </footer>
    </>
  );
}

function CardFields({ page }: { page: HostedPageProps }) {
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
function ErrorSummary({ page }: { page: HostedPageProps }) {
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

function Unreached({ title, text }: { title: string; text: string }) {
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
