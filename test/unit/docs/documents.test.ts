// Documents against the code: every variable and every metric is described, every link and picture is there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../source-imports.ts';

const read = (path: string): string => readFileSync(root + path, 'utf8');
const documents = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...['docs', 'docs/adr'].flatMap((folder) => readdirSync(root + folder).filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`))];

describe('the documents', () => {
  it('describe every environment variable', () => {
    const inCode = [...read('platform/config.ts').matchAll(/read\.\w+\('([A-Z][A-Z_]+)'/g)].map(([, name = '']) => name);
    const inExample = [...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name);
    const described = read('docs/operations.md');
    expect(inCode.length).toBeGreaterThan(20);
    // Refused with a reason; there is nothing to set.
    const refused = ['TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'];
    const missing = [...new Set([...inCode, ...inExample])].filter((name) => !refused.includes(name) && !described.includes(name));
    expect(missing, 'docs/operations.md').toEqual([]);
  });

  it('describe every metric and every kind of stuck work', () => {
    const metrics = [...read('platform/metrics.ts').matchAll(/name: '(\w+)'/g)].map(([, name = '']) => name);
    const kinds = [...read('models/stuck-work.ts').matchAll(/\) as (\w+)/g)].map(([, name = '']) => name);
    const described = read('docs/operations.md');
    expect([...metrics, ...kinds].filter((name) => !described.includes(name))).toEqual([]);
  });

  it.each(documents)('%s links to nothing that is not there', (document) => {
    const text = read(document);
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(([, link, picture]) => link ?? picture ?? '');
    const broken = targets
      .filter((target) => !/^https?:/.test(target))
      .filter((target) => {
        const [path = '', anchor] = target.split('#');
        const file = path === '' ? document : posix.join(posix.dirname(document), path);
        return !existsSync(root + file) || (anchor !== undefined && !anchorsOf(read(file)).includes(anchor));
      });
    expect(broken).toEqual([]);
  });

  it('name only npm scripts that exist', () => {
    const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts);
    const named = documents.flatMap((document) => [...read(document).matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name));
    expect(named.filter((name) => !scripts.includes(name))).toEqual([]);
  });

  it('begin the changelog with the newest date, in UTC days', () => {
    const dates = [...read('CHANGELOG.md').matchAll(/^## \S+ \((\d{4}-\d\d-\d\d)\)$/gm)].map(([, date = '']) => date);
    expect(dates.length).toBeGreaterThan(0);
    expect(dates).toEqual(dates.toSorted().toReversed());
  });
});

/** As the usual hosts make them of headings. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase().replace(/[^\w\s-]/g, '').trim().replace(/\s+/g, '-'));
}
