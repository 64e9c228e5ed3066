// What every hostile document and body is made of, and how one is sent.

export interface Attack {
  readonly name: string;
  readonly status: number;
  /** Stands in the first sentence of the answer; of an accepted document it is left out. */
  readonly sentence?: string;
  /** Line and column of the first problem. */
  readonly at?: readonly [line: number, column: number];
  /** Made when it is sent: some are large. */
  readonly body: () => string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The source that the documents name. */
export const attacked = { name: 'HR', id: 1 } as const;
/** The bound on a document while attacks are sent: its default would make the largest of them slow, and nothing else. */
export const attackDocumentBytesMax = 32 * 1024 * 1024;

export const mib = 1024 * 1024;
const head = `<syncoptions domain="${attacked.name}" ldapid="${attacked.id}"><option name="mode">delta</option></syncoptions>`;
export const person = '<user id="1" username="ada"><additionalfields/></user>';

/** Everything up to `users` stands on one line. */
export function file(users = person, { before = '', root = '' } = {}): string {
  return `${before}<syncdata version="1"${root}>${head}<users>${users}</users></syncdata>`;
}

export const bio = (text: string) =>
  file(`<user id="1" username="ada"><bio>${text}</bio><additionalfields/></user>`);
export const utf8 = (text: string) => new TextEncoder().encode(text);

export function numbered(count: number, each: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => each(i)).join('');
}

/** What came back to an attack. */
export interface AttackAnswer {
  readonly status: number;
  /** The first sentence of a refusal; '' for an accepted document. */
  readonly sentence: string;
  readonly at: readonly [line: number, column: number] | undefined;
  readonly ms: number;
}

interface Refusal {
  readonly Message?: string;
  readonly ModelState?: { readonly PlatformSyncLogicError: readonly string[] };
  readonly errors?: readonly { readonly line: number; readonly column: number }[];
}

/** Sends an attack as a script would send a file. */
export async function sendAttack(address: string, token: string, attack: Attack): Promise<AttackAnswer> {
  const made = attack.body();
  const body = typeof made === 'string' ? made : new Uint8Array(made);
  const headers = { 'x-apikey': token, 'content-type': 'application/xml', ...attack.headers };
  const startedMs = performance.now();
  const url = `${address}/api/platformsync/${attacked.id}/upload`;
  const response = await fetch(url, { method: 'POST', headers, body });
  const answer: Refusal = await response.json();
  const ms = performance.now() - startedMs;
  const [problem] = answer.errors ?? [];
  return {
    status: response.status,
    sentence: answer.ModelState?.PlatformSyncLogicError[0] ?? answer.Message ?? '',
    at: problem === undefined ? undefined : [problem.line, problem.column],
    ms,
  };
}
