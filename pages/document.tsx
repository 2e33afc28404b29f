// The HTML document around every page: language, direction, style sheet, script. No inline style or script: the policy
// in headers.ts would refuse it.
import type { ComponentChildren } from 'preact';
import type { AssetStore } from './asset-store.ts';
import type { Messages } from './text/messages.ts';

export interface DocumentProps {
  readonly messages: Messages;
  readonly assets: AssetStore;
  readonly title: string;
  /** A style sheet with the merchant's colour, see brand.ts. */
  readonly brandSheet?: string | undefined;
  /** Where a browser without scripts goes after five seconds. */
  readonly refreshTo?: string | undefined;
  readonly class?: string | undefined;
  readonly children: ComponentChildren;
}

export function Document(props: DocumentProps) {
  const { messages, assets } = props;
  return (
    <html lang={messages.lang} dir={messages.dir}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{props.title}</title>
        <link rel="icon" href={assets.path('favicon.svg')} type="image/svg+xml" />
        <link rel="stylesheet" href={assets.path('checkout.css')} />
        {props.brandSheet !== undefined && <link rel="stylesheet" href={props.brandSheet} />}
        <script type="module" src={assets.path('checkout.js')} />
        {props.refreshTo !== undefined && (
          <noscript>
            <meta http-equiv="refresh" content={`5; url=${props.refreshTo}`} />
          </noscript>
        )}
      </head>
      <body class={props.class}>{props.children}</body>
    </html>
  );
}
