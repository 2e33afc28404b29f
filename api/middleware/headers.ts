// Headers every JSON answer carries.
import type { Context } from 'koa';
import type { Admitted } from '../admission.ts';

export function setJson(ctx: Context, answer: { status: number; body: string }): void {
  ctx.status = answer.status;
  const { res } = ctx;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  ctx.body = answer.body;
}

/** On every authenticated answer, errors included. Specification: Limits. */
export function setRateLimit(ctx: Context, admitted: Admitted): void {
  ctx.res.setHeader('X-RateLimit-Limit', String(admitted.limit));
  ctx.res.setHeader('X-RateLimit-Remaining', String(admitted.remaining));
}
