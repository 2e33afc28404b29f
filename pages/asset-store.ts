// The style sheet, script and icon of the pages: read once at start, named by their content, compressed once, cached by
// browsers for ever. An address with another hash is a 404, so an old page never gets a newer script.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Context } from 'koa';

const files = {
  'checkout.css': { parts: ['tokens.css', 'checkout.css'], type: 'text/css; charset=utf-8' },
  'checkout.js': { parts: ['checkout.js'], type: 'text/javascript; charset=utf-8' },
  'favicon.svg': { parts: ['favicon.svg'], type: 'image/svg+xml' },
} as const;
export type AssetName = keyof typeof files;

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

export interface AssetStore {
  /** `/assets/{hash}/{name}` */
  path(name: AssetName): string;
  /** Answers a request under /assets; false when nothing is there. */
  serve(ctx: Context): boolean;
}

export function loadAssets(folder: URL = new URL('./assets/', import.meta.url)): AssetStore {
  const assets = new Map<string, Asset>();
  const paths = new Map<AssetName, string>();
  for (const name of Object.keys(files) as AssetName[]) {
    const asset = loadAsset(folder, name);
    assets.set(asset.path, asset);
    paths.set(name, asset.path);
  }
  return {
    path: (name) => paths.get(name) ?? '',
    serve(ctx) {
      const asset = assets.get(ctx.path);
      if (asset === undefined) return false;
      answer(ctx, asset);
      return true;
    },
  };
}

function loadAsset(folder: URL, name: AssetName): Asset {
  const { parts, type } = files[name];
  const plain = Buffer.concat(parts.map((part) => readFileSync(new URL(part, folder))));
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 12);
  const br = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length } });
  return { path: `/assets/${hash}/${name}`, type, plain, br, gzip: gzipSync(plain, { level: 9 }) };
}

function answer(ctx: Context, asset: Asset): void {
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
  ctx.vary('Accept-Encoding');
  ctx.status = 200;
  ctx.type = asset.type;
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity');
  if (encoding === 'br' || encoding === 'gzip') ctx.set('Content-Encoding', encoding);
  ctx.body = encoding === 'br' ? asset.br : encoding === 'gzip' ? asset.gzip : asset.plain;
}
