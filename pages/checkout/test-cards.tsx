// The simulated gateway's cards, in test mode only. Readable without scripts; the script makes each number fill the form.
import { testCards } from '../../domain/card.ts';
import type { CheckoutPageProps } from './page-props.ts';

export function TestCards({ page }: { page: CheckoutPageProps }) {
  const { messages, view } = page;
  if (!view.testCards) return <p class="test-notice">{messages.testNotice}</p>;
  return (
    <details class="test-cards">
      <summary>
        {messages.testNotice} <span class="test-cards-open">{messages.testCards}</span>
      </summary>
      <p class="note">{messages.testCardsHint}</p>
      <table>
        <thead class="visually-hidden">
          <tr>
            <th scope="col">{messages.testCardNumber}</th>
            <th scope="col">{messages.testCardDoes}</th>
          </tr>
        </thead>
        <tbody>
          {testCards.map((card) => (
            <tr>
              <td>
                <span class="test-number" dir="ltr" data-fill={card.number} data-label={messages.fillCard(grouped(card.number))}>
                  {grouped(card.number)}
                </span>
              </td>
              <td lang="en" dir="ltr">
                {card.does}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function grouped(number: string): string {
  return number.startsWith('3') ? number.replace(/^(\d{4})(\d{6})(\d{5})$/, '$1 $2 $3') : number.replace(/(\d{4})(?=\d)/g, '$1 ');
}
