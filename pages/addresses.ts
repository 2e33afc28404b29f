// Which foreign addresses a page may print: links to the merchant and images of line items. Everything that is not
// plainly http(s) is left out, whatever the database says.

/** The address itself when a link may carry it, else undefined (preact then leaves the attribute out). */
export function safeHref(address: string | null): string | undefined {
  const url = parse(address);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : undefined;
}

/** More origins than this in one header would make some proxies refuse the whole answer. */
const imageOriginLimit = 12;

/** The distinct https origins of these images, in order, at most twelve. Images of other origins are not shown. */
export function imageOrigins(addresses: readonly (string | null)[]): string[] {
  const origins = new Set<string>();
  for (const address of addresses) {
    const origin = imageOrigin(address);
    if (origin !== null && origins.size < imageOriginLimit) origins.add(origin);
  }
  return [...origins];
}

/** The image's address when its origin is among the admitted ones, else null. */
export function admittedImage(address: string | null, origins: readonly string[]): string | null {
  const origin = imageOrigin(address);
  return origin !== null && origins.includes(origin) ? address : null;
}

function imageOrigin(address: string | null): string | null {
  const url = parse(address);
  if (url === null || url.protocol !== 'https:') return null;
  // A host that could end the directive or add a keyword never comes out of the URL parser; the check costs nothing.
  return /^https:\/\/[a-z0-9.:[\]-]+$/.test(url.origin) ? url.origin : null;
}

function parse(address: string | null): URL | null {
  return address !== null && URL.canParse(address) ? new URL(address) : null;
}
