// The domains table: hosts a merchant may redirect customers to. Specification: Authentication, 4.
import type { Knex } from 'knex';
import type { Mode, Scope } from '../domain/mode.ts';
import { BaseModel } from './base.ts';
import type { Database } from './database.ts';

export const domainKinds = ['plugin', 'payment_redirect'] as const;
export type DomainKind = (typeof domainKinds)[number];

export class Domain extends BaseModel {
  static override tableName = 'domains';
  static override idColumn = ['merchant_id', 'mode', 'hostname'];
  declare merchantId: string;
  declare mode: Mode;
  /** Lower case, punycode. */
  declare hostname: string;
  declare kind: DomainKind;
  declare createdAt: Date;
}

/** Registers a host, or changes the kind of a registered one. */
export async function upsertDomain(knex: Knex, scope: Scope, domain: { hostname: string; kind: DomainKind }): Promise<Domain> {
  const row = { merchantId: scope.merchantId, mode: scope.mode, ...domain };
  return Domain.query(knex).insert(row).onConflict(['merchant_id', 'mode', 'hostname']).merge(['kind']).returning('*');
}

export async function listDomains(db: Database, scope: Scope): Promise<Domain[]> {
  return Domain.query(db.knex).where({ merchantId: scope.merchantId, mode: scope.mode }).orderBy('hostname');
}

/** @returns whether it was registered */
export async function deleteDomain(db: Database, scope: Scope, hostname: string): Promise<boolean> {
  return (await Domain.query(db.knex).where({ merchantId: scope.merchantId, mode: scope.mode, hostname }).delete()) > 0;
}
