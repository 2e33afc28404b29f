// GET /openapi.json: the contract, for machines. Needs no key.
import { buildOpenApi } from '../openapi.ts';
import { type Route, route } from '../route.ts';

/** @param all the whole table, this row included; asked for at the first call */
export function openApiRoutes(all: () => readonly Route[]): readonly Route[] {
  let text: string | null = null;
  return [
    route({
      method: 'GET',
      path: '/openapi.json',
      tier: 'public-reads',
      operationId: 'retrieveOpenApi',
      summary: 'This document',
      tag: 'Account',
      responses: { 200: { description: 'OpenAPI 3.1.' } },
      foreign: 'none',
      async handler({ deps }) {
        text ??= JSON.stringify(buildOpenApi(all(), deps.operations.publicUrl));
        return { status: 200, body: text };
      },
    }),
  ];
}
