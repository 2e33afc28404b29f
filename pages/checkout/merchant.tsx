// Who the customer deals with: logo or initial, name, and whether this is a test.
import { admittedImage } from '../addresses.ts';
import type { HostedPageProps } from './page-props.ts';

export function Merchant({ page }: { page: HostedPageProps }) {
  const { merchant, mode } = page.view;
  const logo = admittedImage(merchant.logoUrl, page.imageOrigins);
  return (
    <div class="merchant">
      {logo === null ? (
        <span class="monogram" aria-hidden="true">
          {[...merchant.name.trim()][0]?.toLocaleUpperCase(page.locale) ?? '·'}
        </span>
      ) : (
        <img class="logo" src={logo} alt="" width="36" height="36" />
      )}
      <span class="merchant-name">
        <bdi>{merchant.name}</bdi>
      </span>
      {mode === 'test' && <span class="badge">{page.messages.testBadge}</span>}
    </div>
  );
}
