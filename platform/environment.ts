// Reads single environment variables by form (port, flag, URL …) and collects what is wrong instead of throwing, so that
// platform/config.ts can name everything at once. Never repeats a value that may be a secret.
import { readFileSync } from 'node:fs';

export interface Reader {
  text(name: string): string | null;
  flag(name: string, otherwise: boolean): boolean;
  integer(name: string, otherwise: number, least: number, most: number): number;
  port(name: string, otherwise: number): number;
  optionalPort(name: string): number | null;
  url(name: string, protocols: readonly string[]): string | null;
  hostAndPort(name: string): string | null;
  oneOf<T extends string>(name: string, allowed: readonly T[], otherwise: T): T;
  /** Comma-separated; `check` answers what is wrong with an item, or null. */
  list(name: string, check: (item: string) => string | null): readonly string[];
  /** The same, from the text of a file, whose path stands for the variable's name. */
  listIn(file: string, check: (item: string) => string | null): readonly string[];
  /** `{name}_PATH` (a file) or `{name}_DATA` (the text itself), as Temporal's tools have it. */
  material(name: string): Buffer | null;
  problem(name: string, message: string): void;
  problems(): readonly string[];
}

export function environment(env: NodeJS.ProcessEnv): Reader {
  const found = new Map<string, string>();
  const problem = (name: string, message: string): void => {
    if (!found.has(name)) found.set(name, message);
  };
  const text = (name: string): string | null => {
    const value = env[name]?.trim();
    return value === undefined || value === '' ? null : value;
  };
  const integer = (name: string, otherwise: number, least: number, most: number): number => {
    const value = text(name);
    if (value === null) return otherwise;
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    problem(name, `must be a whole number from ${least} to ${most}, not "${value.slice(0, 40)}"`);
    return otherwise;
  };
  const items = (name: string, value: string | null, check: (item: string) => string | null): readonly string[] => {
    const list = (value ?? '').split(',').map((item) => item.trim()).filter((item) => item !== '');
    for (const item of list) {
      const wrong = check(item);
      if (wrong !== null) problem(name, wrong);
    }
    return list;
  };
  const contents = (name: string, file: string): Buffer | null => {
    try {
      return readFileSync(file);
    } catch (error) {
      problem(name, `cannot read the file ${file} (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
      return null;
    }
  };
  return {
    text,
    integer,
    problem,
    flag(name, otherwise) {
      const value = text(name)?.toLowerCase();
      if (value === undefined) return otherwise;
      if (value === 'true' || value === '1') return true;
      if (value === 'false' || value === '0') return false;
      problem(name, 'must be true or false');
      return otherwise;
    },
    port: (name, otherwise) => integer(name, otherwise, 0, 65_535),
    optionalPort: (name) => (text(name) === null ? null : integer(name, 0, 0, 65_535)),
    url(name, protocols) {
      const value = text(name);
      if (value === null) return null;
      if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value;
      problem(name, `must be an address beginning with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`);
      return null;
    },
    hostAndPort(name) {
      const value = text(name);
      if (value === null) return null;
      const port = Number(/^(?:[\w.-]+|\[[0-9a-f:]+\]):(\d{1,5})$/i.exec(value)?.[1] ?? 0);
      if (port >= 1 && port <= 65_535) return value;
      problem(name, 'must be host:port, such as temporal.example.com:7233');
      return null;
    },
    oneOf(name, allowed, otherwise) {
      const value = text(name);
      if (value === null) return otherwise;
      const match = allowed.find((one) => one === value);
      if (match === undefined) problem(name, `must be one of ${allowed.join(', ')}`);
      return match ?? otherwise;
    },
    list: (name, check) => items(name, text(name), check),
    listIn: (file, check) => items(file, contents(file, file)?.toString('utf8') ?? null, check),
    material(name) {
      const inline = text(`${name}_DATA`);
      const path = text(`${name}_PATH`);
      if (inline !== null && path !== null) problem(`${name}_PATH`, `and ${name}_DATA are both set: give one`);
      if (inline !== null) return Buffer.from(inline);
      return path === null ? null : contents(`${name}_PATH`, path);
    },
    problems: () => [...found].map(([name, message]) => `${name} ${message}`),
  };
}
