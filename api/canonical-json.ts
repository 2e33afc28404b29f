// One text for all spellings of the same JSON value: keys sorted, nothing between tokens. Fingerprints are made of it.

/** @param body a parsed body, no deeper than `maxDepth` of schema/text.ts */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`;
}

/** The body without `card.cvc`, which must not be kept even as part of a hash. */
export function withoutCvc(body: unknown): unknown {
  if (!isObject(body) || !isObject(body['card']) || !('cvc' in body['card'])) return body;
  const { cvc: _, ...card } = body['card'];
  return { ...body, card };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
