// The merchant's colour as a style sheet of its own address: the policy allows no inline style. Text on the colour is
// black or white, whichever contrasts more (WCAG 2.2, 1.4.3), so no colour makes the button unreadable.
import type { Context } from 'koa';

const colour = /^#?([0-9a-f]{6})$/i;

/** undefined when the merchant has no usable colour. */
export function brandSheetPath(primaryColor: string | null): string | undefined {
  const hex = colour.exec(primaryColor ?? '')?.[1];
  return hex === undefined ? undefined : `/assets/brand/${hex.toLowerCase()}.css`;
}

/** Answers a request for such a sheet; false when the address names no colour. */
export function serveBrandSheet(ctx: Context): boolean {
  const hex = /^\/assets\/brand\/([0-9a-f]{6})\.css$/.exec(ctx.path)?.[1];
  if (hex === undefined) return false;
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.status = 200;
  ctx.type = 'text/css; charset=utf-8';
  ctx.body = brandSheet(hex);
  return true;
}

/** @param hex six digits */
export function brandSheet(hex: string): string {
  const onBrand = luminance(hex) > blackWhiteBalance ? '#000' : '#fff';
  return `:root{--action:#${hex};--action-hover:color-mix(in srgb,#${hex} 88%,${onBrand});--on-action:${onBrand}}`;
}

/** Relative luminance at which black and white contrast equally: (L + 0.05)² = 1.05 × 0.05. */
const blackWhiteBalance = Math.sqrt(1.05 * 0.05) - 0.05;

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
