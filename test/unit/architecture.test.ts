// Holds every import against the arrows, and a few habits that a reader could not check by eye. A failure says which
// import it is, what the layer may import instead, and why.
import { describe, expect, it } from 'vitest';
import { type ArrowRule, arrowRules, cardHolders, departures, environmentReaders, roots } from './architecture-rules.ts';
import { loadedBy, readSources, type SourceFile, type SourceImport } from './source-imports.ts';

const sources = readSources();
const begins = (path: string, beginnings: readonly string[]): boolean => beginnings.some((beginning) => path.startsWith(beginning));
const product = sources.filter((source) => !begins(source.path, ['test/', 'bench/', 'examples/', 'vitest.config.ts']));

function ruleOf(path: string): ArrowRule | null {
  const matching = arrowRules.filter((rule) => path.startsWith(rule.layer));
  return matching.toSorted((a, b) => b.layer.length - a.layer.length)[0] ?? null;
}

function isDeparture(one: SourceImport): boolean {
  return departures.some((known) => one.from.startsWith(known.from) && one.to.startsWith(known.to));
}

/** null when the import follows the arrows, else the sentence a developer needs. */
function objection(one: SourceImport): string | null {
  const rule = ruleOf(one.from);
  if (rule === null) return `${one.from} lies in a folder the table of arrows does not know: add a row with its reason`;
  const folder = rule.layer.split('/')[0];
  if (one.isPackage) {
    if (rule.packages === undefined || rule.packages.some((name) => (name === 'node:' ? one.to.startsWith(name) : one.to === name))) return null;
    return `${one.from} imports the package "${one.to}". ${rule.layer} may use ${rule.packages.join(', ') || 'no packages'}, because ${rule.because}.`;
  }
  if (one.to.startsWith(`${folder}/`) && rule.layer === `${folder}/`) return null;
  if (begins(one.to, rule.may) || (one.typeOnly && begins(one.to, rule.mayTypes ?? []))) return null;
  const may = [...rule.may, ...(rule.mayTypes ?? []).map((path) => `types of ${path}`)].join(', ') || 'nothing of ours';
  return `${one.from} imports ${one.to}. ${rule.layer} may import ${may}, because ${rule.because}.`;
}

const governed = sources.filter((source) => !begins(source.path, roots)).flatMap((source) => source.imports);

describe('the arrows', () => {
  it('are followed by every import', () => {
    expect(governed.length).toBeGreaterThan(200);
    const broken = governed.filter((one) => !isDeparture(one)).map(objection).filter((text) => text !== null);
    expect(broken, broken.join('\n')).toEqual([]);
  });

  it('have no departure on the list that nothing needs any more', () => {
    const needed = (known: (typeof departures)[number]): boolean =>
      governed.some((one) => one.from.startsWith(known.from) && one.to.startsWith(known.to) && objection(one) !== null);
    expect(departures.filter((known) => !needed(known))).toEqual([]);
  });

  it('are broken by an import that goes against them, with the reason in the message', () => {
    const wrong = (from: string, to: string, typeOnly = false) => objection({ from, to, isPackage: !to.includes('/') || to.startsWith('node:'), typeOnly, names: [] });
    expect(wrong('webhooks/sender.ts', 'temporal/delivery-door.ts')).toContain('never know of Temporal');
    expect(wrong('domain/card.ts', 'node:crypto')).toContain('bundled');
    expect(wrong('presenters/me.ts', 'models/api-key.ts')).toContain('types of models/');
    expect(wrong('presenters/me.ts', 'models/api-key.ts', true)).toBeNull();
    expect(wrong('examples/demo-store/store.ts', 'domain/currency.ts')).toContain('merchant');
    expect(wrong('novelty/thing.ts', 'domain/id.ts')).toContain('does not know');
  });

  it('let nothing into the workflow bundle but pure code and the workflow library', () => {
    const foreign = [...loadedBy(sources, 'workflows/index.ts')]
      .filter(([path]) => !begins(path, ['workflows/', 'domain/', 'temporal/contract.ts', '@temporalio/workflow', '@temporalio/common']))
      .map(([, chain]) => chain.join(' → '));
    expect(foreign).toEqual([]);
  });
});

describe('secrets and surroundings', () => {
  it('name the card type only where card numbers have to pass', () => {
    const naming = (source: SourceFile): boolean => source.imports.some((one) => one.to === 'domain/card.ts' && one.names.includes('Pan'));
    const others = sources.filter((source) => naming(source) && !begins(source.path, cardHolders)).map((source) => source.path);
    expect(others, 'A card number that can be named can be logged, stored or sent: take a gateway reference instead.').toEqual([]);
  });

  it('read the environment in one place; composition roots only hand it over', () => {
    const passedOn = /readConfig\(process\.env|env: \{ \.\.\.process\.env|env: process\.env|\?\? process\.env\b/;
    const readers = sources
      .filter((source) => !begins(source.path, environmentReaders))
      .flatMap((source) => source.text.split('\n').map((line, index) => ({ where: `${source.path}:${index + 1}`, line, root: begins(source.path, roots) })))
      .filter(({ line, root }) => /\bprocess\.env\b/.test(line) && !(root && passedOn.test(line)))
      .map(({ where }) => where);
    expect(readers, 'A variable read elsewhere is neither checked, nor named with the others, nor in the table of docs/operations.md.').toEqual([]);
  });

  it('reach other machines through undici, never through the global fetch', () => {
    // Seven times slower, and it would go around the address guard and the pools.
    const callers = product.filter((source) => /(^|[^.\w])fetch\(/m.test(source.text) && !source.imports.some((one) => one.names.includes('fetch')));
    expect(callers.map((source) => source.path)).toEqual([]);
  });
});

describe('habits', () => {
  it('export by name, not by default, where no tool demands otherwise', () => {
    const exempt = ['vitest.config.ts', 'test/support/count-reporter.ts'];
    expect(sources.filter((source) => /^export default/m.test(source.text) && !exempt.includes(source.path)).map((source) => source.path)).toEqual([]);
  });

  it('keep no file or folder that could hold anything', () => {
    const vague = /(^|[/-])(utils?|helpers?|common|managers?|misc|data)(\.tsx?$|\/)/;
    expect(sources.filter((source) => vague.test(source.path)).map((source) => source.path)).toEqual([]);
  });

  it('begin every file of the product by saying what it owns', () => {
    expect(product.filter((source) => !/^(#!.*\n)?(\/\/|\/\*)/.test(source.text)).map((source) => source.path)).toEqual([]);
  });
});
