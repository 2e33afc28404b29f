// An outcome as it leaves: status and JSON text.

/** `body` is JSON text: it is stored and sent byte for byte. */
export function jsonAnswer(status: number, body: object): { status: number; body: string } {
  return { status, body: JSON.stringify(body) };
}

/** Page-based listings. Specification: Listings. `last_page` is never below 1. */
export function presentPage(data: readonly object[], page: { page: number; limit: number; total: number }): object {
  return {
    data,
    meta: { current_page: page.page, last_page: Math.max(1, Math.ceil(page.total / page.limit)), per_page: page.limit, total: page.total },
  };
}
