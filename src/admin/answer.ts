interface AnswerOptions {
  readonly status?: number;
  readonly cookie?: string;
}

/** Data for one pair of eyes: kept by no cache, run by no browser, embedded by no page. */
const headersOfAll: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** A JSON answer of the admin surfaces; without a body for `undefined`. */
export function answer(body: unknown, { status = 200, cookie }: AnswerOptions = {}): Response {
  const headers = new Headers(headersOfAll);
  if (cookie !== undefined) headers.set('set-cookie', cookie);
  if (body === undefined) return new Response(null, { status, headers });
  headers.set('content-type', 'application/json');
  return new Response(JSON.stringify(body), { status, headers });
}
