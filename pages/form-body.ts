// Reads the body of our own forms: urlencoded, at most 16 KiB, text fields only. The text holds a card number: it is
// never kept, logged or attached to the context.
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';

/** A form of ours is under 1 KB; the rest is room for long names. */
const formLimitBytes = 16 * 1024;

export type FormBody =
  | { readonly kind: 'form'; readonly fields: URLSearchParams }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'wrong_type' };

/** @throws when the client goes away in the middle of the body */
export async function readForm(ctx: Context): Promise<FormBody> {
  if (ctx.is('application/x-www-form-urlencoded') === false || ctx.get('Content-Encoding') !== '') return { kind: 'wrong_type' };
  if (Number(ctx.get('Content-Length') || 0) > formLimitBytes) return refuse(ctx);
  const text = await readText(ctx.req);
  return text === null ? refuse(ctx) : { kind: 'form', fields: new URLSearchParams(text) };
}

/** The unread rest of the body makes the connection useless for a next request. */
function refuse(ctx: Context): FormBody {
  ctx.set('Connection', 'close');
  return { kind: 'too_large' };
}

function readText(request: IncomingMessage): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= formLimitBytes) chunks.push(chunk);
      else {
        request.pause();
        resolve(null);
      }
    });
    request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.once('error', reject);
    request.once('aborted', () => reject(new Error('the client left in the middle of the form')));
  });
}
