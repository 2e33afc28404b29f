// The page of an answer that is no checkout: not found, refused, too much, or ours to mend. Says nothing about whether a
// session exists, and nothing of what went wrong inside.
import type { Context } from 'koa';
import type { AssetStore } from './asset-store.ts';
import { Document } from './document.tsx';
import { sendPage } from './respond.tsx';
import { chooseText } from './text/choose.ts';
import type { Messages, PageErrorKind } from './text/messages.ts';

const statuses: Readonly<Record<PageErrorKind, number>> = {
  not_found: 404,
  forbidden: 403,
  wrong_type: 400,
  too_large: 413,
  too_many: 429,
  unavailable: 503,
  fault: 500,
};

export interface ErrorPageOptions {
  readonly https: boolean;
  readonly assets: AssetStore;
  /** Seconds for the Retry-After header. */
  readonly retryAfterSeconds?: number;
  /** Link back to the customer's own checkout, when the address was one. */
  readonly checkoutPath?: string;
}

export async function sendErrorPage(ctx: Context, kind: PageErrorKind, options: ErrorPageOptions): Promise<void> {
  const { messages } = chooseText(null, ctx.get('Accept-Language'));
  if (options.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(options.retryAfterSeconds));
  const page = <ErrorPage kind={kind} messages={messages} assets={options.assets} checkoutPath={options.checkoutPath} />;
  await sendPage(ctx, statuses[kind], page, { mode: 'live', https: options.https, imageOrigins: [] });
}

function ErrorPage({ kind, messages, assets, checkoutPath }: { kind: PageErrorKind; messages: Messages; assets: AssetStore; checkoutPath: string | undefined }) {
  const { title, text } = messages.pageErrors[kind];
  return (
    <Document messages={messages} assets={assets} title={title} class="plain">
      <main class="plain-page">
        <p class="plain-code" aria-hidden="true">
          {statuses[kind]}
        </p>
        <h1>{title}</h1>
        <p>{text}</p>
        {checkoutPath !== undefined && (
          <a class="button secondary" href={checkoutPath}>
            {messages.openAgain}
          </a>
        )}
      </main>
    </Document>
  );
}
