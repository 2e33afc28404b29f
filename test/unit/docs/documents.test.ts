// Documents against the code: every variable, metric, command and alert is described, every link and picture is there, and
// nothing in them is of one machine alone.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ErrorCode, isErrorCode } from '../../../domain/errors.ts';
import { refundStatuses } from '../../../domain/refund.ts';
import { root } from '../source-imports.ts';

const read = (path: string): string => readFileSync(root + path, 'utf8');
const documents = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'gateways/stripe/README.md', ...['docs', 'docs/adr'].flatMap((folder) => readdirSync(root + folder).filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`))];

/** Sites a reader is sent to. */
const publicHosts = new Set(['temporal.io', 'www.standardwebhooks.com']);

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

  it('describe every alert', () => {
    const sources = ['activities', 'cli', 'gateways/stripe'].flatMap((folder) => readdirSync(root + folder).filter((name) => name.endsWith('.ts')).map((name) => read(`${folder}/${name}`)));
    const kinds = sources.flatMap((source) => [...source.matchAll(/alert(?:\(|: )'(\w+)'/g)].map(([, kind = '']) => kind));
    expect(kinds).toContain('gateway_amount_mismatch');
    expect([...new Set(kinds)].filter((kind) => !read('docs/operations.md').includes(`\`${kind}\``))).toEqual([]);
  });

  it('describe every command of svc', () => {
    const commands = readdirSync(`${root}cli/svc`).flatMap((name) => {
      const source = read(`cli/svc/${name}`);
      const group = /program\.command\('(\w+)'/.exec(source)?.[1];
      return [...source.matchAll(/group\s*\.command\('([\w-]+)/g)].map(([, verb = '']) => ({ group, verb }));
    });
    expect(commands).toContainEqual({ group: 'gateway', verb: 'connect' });
    const rows = [...read('docs/operations.md').matchAll(/^\| `(\w+) .*$/gm)].map(([row, group]) => ({ group, row }));
    expect(commands.filter(({ group, verb }) => !rows.some((row) => row.group === group && row.row.includes(verb)))).toEqual([]);
  });

  it('describe every status a payment or refund can be answered with', () => {
    const shown = read('docs/outcomes.md');
    const answers = ['captured', 'authorized', 'processing', 'requires_action', 'failed', 'voided', 'expired', ...refundStatuses];
    const errors = ['card_declined', 'authentication_required', 'gateway_unavailable', 'payment_outcome_pending', 'refund_exceeds_remaining', 'idempotency_key_reused', 'idempotency_in_progress'] as const satisfies readonly ErrorCode[];
    expect([...answers, ...errors].filter((word) => !shown.includes(`\`${word}\``))).toEqual([]);
    const examples = [...shown.matchAll(/```json\n([^`]*)```/g)].map(([, text = '']) => JSON.parse(text) as { code?: string });
    expect(examples.length).toBeGreaterThan(5);
    expect(examples.filter(({ code }) => code !== undefined && !isErrorCode(code))).toEqual([]);
  });

  it.each(documents)('%s names no path of one machine and no host but those meant', (document) => {
    const text = read(document);
    const paths = [root, `${homedir()}/`, '/home/', '/root/', '/tmp/', '/Users/'].filter((path) => path.length > 1 && text.includes(path));
    expect(paths).toEqual([]);
    const hosts = [...text.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host = '']) => host);
    expect([...new Set(hosts)].filter((host) => !/^(localhost|127\.0\.0\.1|(\w+\.)*example\.com)$/.test(host) && !publicHosts.has(host))).toEqual([]);
  });

  it('have a lock file and a registry setting that fit every machine', () => {
    expect(read('package-lock.json')).not.toContain('"resolved": "http');
    expect(read('.npmrc')).not.toMatch(/registry\s*=|https?:/);
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
