// The page of the bank that does not exist: it shows the amount and asks "Complete" or "Fail". Plain HTML and forms,
// no script. It knows nothing of the merchant.
import type { ChargeRow } from './rows.ts';

/** Strict, yet without `form-action`: Chromium would hold it against the redirect back to the shop. */
export const challengeHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const;

export function challengePage(charge: ChargeRow): string {
  const amount = charge.currency === null ? '' : formatAmount(charge.amountMinor, charge.currency);
  if (charge.status === 'requires_action') {
    return page(
      'Confirm your payment',
      `<p>Your bank asks you to confirm this payment with the card ending in ${escape(charge.cardLast4 ?? '')}.</p>
<p class="amount">${escape(amount)}</p>
<form method="post">
<button name="decision" value="complete">Complete</button>
<button name="decision" value="fail" class="quiet">Fail</button>
</form>
<p class="note">This is a simulated bank. No money moves.</p>`,
    );
  }
  const back = charge.returnUrl === null ? '' : `<p><a href="${escape(charge.returnUrl)}">Back to the shop</a></p>`;
  return page('Nothing left to confirm', `<p>This confirmation is finished: ${finished(charge)}.</p>${back}`);
}

export function unknownChallengePage(): string {
  return page('Not found', '<p>There is no confirmation at this address.</p>');
}

function finished(charge: ChargeRow): string {
  if (charge.status === 'declined') return 'it was declined';
  return charge.status === 'cancelled' ? 'it was cancelled' : 'it was completed';
}

/** "25.00 USD": digits by the currency's own exponent. */
function formatAmount(amountMinor: number, currency: string): string {
  const digits = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  const text = String(amountMinor).padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  return `${whole}${digits === 0 ? '' : `.${text.slice(-digits)}`} ${currency}`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - Test bank</title>
<style>${style}</style>
</head>
<body>
<main>
<p class="bank">Test bank</p>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}

const style = `
:root { color-scheme: light dark; --back: #eef1f6; --card: #fff; --ink: #16202e; --soft: #566377; --line: #8a97a9; --deep: #14508c; --on-deep: #fff }
@media (prefers-color-scheme: dark) {
  :root { --back: #0f151d; --card: #1a232f; --ink: #edf2f8; --soft: #a9b6c6; --line: #64748a; --deep: #8cc2f7; --on-deep: #0c1a28 }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 16px; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 400px; padding: 24px; background: var(--card); border-radius: 12px; border-top: 4px solid var(--deep) }
.bank { margin: 0; color: var(--deep); font-weight: 700 }
h1 { margin: 4px 0 12px; font-size: 1.35rem; line-height: 1.25 }
.amount { margin: 16px 0; font-size: 1.75rem; font-weight: 700; overflow-wrap: anywhere }
form { display: grid; gap: 12px }
button { width: 100%; min-height: 48px; border: 1px solid var(--deep); border-radius: 8px; background: var(--deep); color: var(--on-deep); font: inherit; font-weight: 600; cursor: pointer }
button.quiet { background: none; border-color: var(--line); color: var(--ink) }
:focus-visible { outline: 3px solid var(--deep); outline-offset: 3px }
.note { margin: 16px 0 0; color: var(--soft); font-size: .875rem }
a { color: var(--deep) }
`;
