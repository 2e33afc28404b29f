// One amount, with its currency code set apart so that the digits stand out.
import type { AmountFormat } from '../text/amount.ts';

export function Amount({ format, minor }: { format: AmountFormat; minor: number }) {
  return (
    <span class="amount">
      {format.parts(minor).map((part) => (part.isCode ? <span class="code">{part.text}</span> : part.text))}
    </span>
  );
}
