// Which language a page speaks and how its numbers look: the session's own locale first, then what the browser asks
// for, then English. A language without sentences of its own gets English whole, never half.
import type { Messages } from './messages.ts';
import { ar } from './ar.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';

const languages: Readonly<Record<string, Messages>> = { ar, en, es, fr };

export interface PageText {
  readonly messages: Messages;
  /** For Intl: the wanted region when its language is spoken here ("en-GB"), else the language itself. */
  readonly locale: string;
}

/** @param acceptLanguage the request header, possibly empty or nonsense */
export function chooseText(sessionLocale: string | null, acceptLanguage: string): PageText {
  const wanted = sessionLocale === null ? readAcceptLanguage(acceptLanguage) : [sessionLocale, ...readAcceptLanguage(acceptLanguage)];
  for (const tag of wanted) {
    const locale = canonical(tag);
    const messages = locale === null ? undefined : languages[new Intl.Locale(locale).language];
    if (locale !== null && messages !== undefined) return { messages, locale };
  }
  return { messages: en, locale: 'en' };
}

/** Tags by descending weight (RFC 9110, 12.5.4). More than a handful is nonsense or an attack. */
function readAcceptLanguage(header: string): string[] {
  return header
    .slice(0, 200)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().split(';');
      const weight = parameters.map((text) => /^\s*q=([\d.]+)\s*$/.exec(text)?.[1]).find((text) => text !== undefined);
      return { tag: tag.trim(), weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ tag, weight }) => /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(tag) && weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}

/** Without extensions: a "-u-nu-" in the tag would choose digits that nobody asked for. */
function canonical(tag: string): string | null {
  try {
    return new Intl.Locale(tag.replaceAll('_', '-')).baseName;
  } catch {
    return null;
  }
}
