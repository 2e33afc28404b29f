// Reads which file of this repository imports what. Knows the shapes of import this code base uses and no others.
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export interface SourceImport {
  /** Path from the root, with forward slashes. */
  readonly from: string;
  /** A path from the root, or the name of a package or Node module. */
  readonly to: string;
  readonly isPackage: boolean;
  /** Nothing of it is left when types are gone. */
  readonly typeOnly: boolean;
  readonly names: readonly string[];
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly SourceImport[];
}

const skipped = new Set(['node_modules', '.git', '.data', '.cache']);

/** Every TypeScript file of the repository. */
export function readSources(): SourceFile[] {
  return walk('').map((path) => {
    const text = readFileSync(root + path, 'utf8');
    return { path, text, imports: importsOf(path, text) };
  });
}

function walk(folder: string): string[] {
  return readdirSync(root + folder, { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : walk(path);
    return /\.tsx?$/.test(entry.name) && !entry.name.startsWith('.') ? [path] : [];
  });
}

const statement = /^(?:import|export)\s+(type\s+)?(?:([^'";]*?)\s+from\s+)?'([^']+)'/gm;
const dynamic = /\bimport\('([^']+)'\)/g;

function importsOf(from: string, text: string): SourceImport[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const found: SourceImport[] = [];
  const add = (specifier: string, clause: string, typeKeyword: boolean): void => {
    const isPackage = !specifier.startsWith('.');
    const to = isPackage ? specifier : posix.normalize(posix.join(posix.dirname(from), specifier));
    const parts = clause.replace(/[{}]/g, ',').split(',').map((part) => part.trim()).filter((part) => part !== '');
    const typeOnly = typeKeyword || (parts.length > 0 && parts.every((part) => part.startsWith('type ')));
    found.push({ from, to, isPackage, typeOnly, names: parts.map((part) => part.replace(/^type\s+/, '').split(/\s+as\s+/)[0] ?? part) });
  };
  for (const [, typeKeyword, clause, specifier = ''] of code.matchAll(statement)) add(specifier, clause ?? '', typeKeyword !== undefined);
  for (const [, specifier = ''] of code.matchAll(dynamic)) add(specifier, '', false);
  return found;
}

/**
 * Everything that is loaded when `entry` is, with the way to it.
 * @returns path → the chain of files from the entry to it
 */
export function loadedBy(sources: readonly SourceFile[], entry: string): Map<string, string[]> {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const chains = new Map<string, string[]>([[entry, [entry]]]);
  for (const [path, chain] of chains) {
    for (const next of byPath.get(path)?.imports ?? []) {
      if (!next.typeOnly && !chains.has(next.to)) chains.set(next.to, [...chain, next.to]);
    }
  }
  return chains;
}
