// The security headers of every HTML answer. Architecture, "Found out": Chromium holds `form-action` against every hop
// after a form's 303, so a list of origins would strand customers who have paid: any https address is let through.
import type { Context } from 'koa';
import type { Mode } from '../domain/mode.ts';

export interface PageSecurity {
  /** http redirect addresses are allowed in test mode alone. */
  readonly mode: Mode;
  readonly https: boolean;
  /** Origins of the images of this very page, see `imageOrigins`. */
  readonly imageOrigins: readonly string[];
}

/** Nothing is kept by caches, framed, run inline or loaded from third parties but this page's own images. */
export function setPageHeaders(ctx: Context, page: PageSecurity): void {
  ctx.set('Content-Security-Policy', contentSecurityPolicy(page));
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('X-Frame-Options', 'DENY');
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
  ctx.set('Permissions-Policy', 'camera=(), microphone=(), geolocation=()');
  ctx.set('X-Robots-Tag', 'noindex, nofollow');
  if (page.https) ctx.set('Strict-Transport-Security', 'max-age=31536000');
}

function contentSecurityPolicy(page: PageSecurity): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    ["img-src 'self'", ...page.imageOrigins].join(' '),
    page.mode === 'test' ? "form-action 'self' https: http:" : "form-action 'self' https:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
