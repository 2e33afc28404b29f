// A registered redirect host as merchants see it.
import type { Domain } from '../models/domain.ts';

export function presentDomain(domain: Pick<Domain, 'hostname' | 'kind' | 'mode' | 'createdAt'>) {
  return { hostname: domain.hostname, kind: domain.kind, mode: domain.mode, created_at: domain.createdAt.toISOString() };
}
