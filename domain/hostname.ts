// Hostnames as they are compared: lower case, punycode, no trailing dot.

const form = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/** @returns the comparable form of a bare hostname or IP literal, or null when the text is anything else */
export function normaliseHostname(text: string): string | null {
  if (text === '' || text.length > 253 || /[\s/?#@\\*%]/.test(text)) return null;
  const bracketed = text.startsWith('[') && text.endsWith(']');
  if (text.includes(':') && !bracketed) return null;
  let hostname: string;
  try {
    hostname = new URL(`https://${text}/`).hostname.replace(/\.$/, '');
  } catch {
    return null;
  }
  return bracketed || form.test(hostname) ? hostname : null;
}
