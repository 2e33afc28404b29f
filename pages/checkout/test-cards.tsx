// The simulated gateway's cards, in test mode only. Readable without scripts; the script makes each number fill the form.
import { testCards } from '../../domain/card.ts';
import type { HostedPageProps } from './page-props.ts';

export function TestCards({ page }: { page: HostedPageProps }) {
  const { messages, view } = page;
  if (!view.testCards) return <p class="test-notice">{messages.testNotice}</p>;
  return (
    <details class="test-cards">
      <summary>
        {messages.testNotice} <span class="test-cards-open">{messages.testCards}</span>
      </summary>
      <p class="note">{messages.testCardsHint}</p>
      {/* Focusable, so that a keyboard can scroll it where no script made buttons of the numbers. */}
      <ul class="test-list" tabindex={0} aria-label={messages.testCards}>
        {testCards.map((card) => (
          <li>
            <span class="test-number" dir="ltr" data-fill={card.number} data-label={messages.fillCard(grouped(card.number))}>
              {grouped(card.number)}
            </span>
            <span class="test-does" lang="en" dir="ltr">
              {card.does}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function grouped(number: string): string {
  return number.startsWith('3') ? number.replace(/^(\d{4})(\d{6})(\d{5})$/, '$1 $2 $3') : number.replace(/(\d{4})(?=\d)/g, '$1 ');
}
