// The routes table made searchable: one step per path segment, no regular expressions on the way of a request.
import { type IdKind, isId } from '../domain/id.ts';
import type { Method, Route } from './route.ts';

export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

interface Node {
  readonly fixed: Map<string, Node>;
  variable: Node | null;
  readonly routes: Map<string, { route: Route; names: readonly string[] }>;
}

export interface RouteTable {
  readonly routes: readonly Route[];
  /**
   * @param path below /api/v1, without the query
   * @returns null when no row has this path and method; HEAD finds GET
   */
  find(method: string, path: string): Match | null;
}

/** @throws Error when two rows have the same method and path */
export function compileTable(routes: readonly Route[]): RouteTable {
  const root = newNode();
  for (const route of routes) insert(root, route);
  return {
    routes,
    find(method, path) {
      const values: string[] = [];
      let node: Node | null = root;
      // "/a/b" splits into "", "a", "b".
      const segments = path.split('/');
      for (let i = 1; i < segments.length && node !== null; i++) {
        const segment = segments[i] ?? '';
        const next: Node | undefined = node.fixed.get(segment);
        if (next !== undefined) node = next;
        else {
          node = segment === '' ? null : node.variable;
          values.push(segment);
        }
      }
      const found = node?.routes.get(method === 'HEAD' ? 'GET' : method);
      if (found === undefined) return null;
      if (values.length === 0) return { route: found.route, params: noParams };
      const params: Record<string, string> = {};
      for (let i = 0; i < values.length; i++) {
        const name = found.names[i];
        const value = decoded(values[i] ?? '');
        if (name === undefined || value === null) return null;
        params[name] = value;
      }
      return { route: found.route, params };
    },
  };
}

const noParams: Readonly<Record<string, string>> = Object.freeze({});

/** Whether every parameter has the form of its kind of id; one that has not is answered like an absent id. */
export function hasPlausibleIds(match: Match): boolean {
  for (const [name, kind] of Object.entries(match.route.ids)) {
    if (kind === 'text') continue;
    const value = match.params[name] ?? '';
    if (typeof kind === 'string' ? !isId(kind, value) : !kind.some((one) => isId(one, value))) return false;
  }
  return true;
}

/** What a caller reads of an id that is nobody's: the words of the row's own handler, so that a malformed id tells nothing more. */
export function missingMessage(match: Match): string {
  const kind = Object.values(match.route.ids)[0];
  const first = typeof kind === 'string' ? kind : kind?.[0];
  return `There is no such ${(first === undefined || first === 'text' ? undefined : nouns[first]) ?? 'resource'}.`;
}

const nouns: Readonly<Partial<Record<IdKind, string>>> = {
  session: 'checkout session',
  transaction: 'payment',
  refund: 'refund',
  customer: 'customer',
  token: 'saved card',
  cardSetup: 'card setup',
  endpoint: 'webhook endpoint',
  automationHook: 'webhook endpoint',
};

function newNode(): Node {
  return { fixed: new Map(), variable: null, routes: new Map() };
}

function insert(root: Node, route: Route): void {
  const names: string[] = [];
  let node = root;
  for (const segment of route.path.split('/').slice(1)) {
    if (segment.startsWith('{')) {
      names.push(segment.slice(1, -1));
      node = node.variable ??= newNode();
    } else {
      let next = node.fixed.get(segment);
      if (next === undefined) node.fixed.set(segment, (next = newNode()));
      node = next;
    }
  }
  if (node.routes.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`);
  const method: Method = route.method;
  node.routes.set(method, { route, names });
}

function decoded(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    const value = decodeURIComponent(text);
    // Postgres has no room for NUL, so nothing can be called so.
    return value.includes('\0') ? null : value;
  } catch {
    return null;
  }
}
