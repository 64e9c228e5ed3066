// Replays a conversation against a service that is reached over HTTP, wherever that runs.
// It throws at the first answer that is not as expected, naming the step; it knows nothing of the test runner.
// Besides what a step asks for, every answer is held to what RFC 7644 asks of all of them.

import type { Conversation, Step } from './exchange.ts';
import { expand, type Variables } from './expand.ts';
import { at, mismatch } from './match.ts';

export interface Target {
  /** Absolute, ending in /scim/v2. */
  readonly baseUrl: string;
  readonly token: string;
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

const errorUrn = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Sends every request in order; returns what the conversation captured. */
export async function replay(conversation: Conversation, target: Target): Promise<Variables> {
  const variables = new Map<string, string>();
  for (const step of conversation.steps) {
    const rounds = Array.from({ length: step.times ?? 1 }, (_, index) => index + 1);
    const atOnce = step.atOnce ?? 1;
    for (let start = 0; start < rounds.length; start += atOnce) {
      const together = rounds.slice(start, start + atOnce);
      await Promise.all(
        together.map((index) => take(step, { conversation, target, variables, index: String(index) })),
      );
    }
  }
  return variables;
}

interface Surroundings {
  readonly conversation: Conversation;
  readonly target: Target;
  readonly variables: Map<string, string>;
  readonly index: string;
}

async function take(step: Step, { conversation, target, variables, index }: Surroundings): Promise<void> {
  const known = new Map([...variables, ['index', index]]);
  const { request, expect } = expand({ request: step.request, expect: step.expect }, known) as Step;
  const filled = { ...step, request, expect };
  const reply = await send(filled, conversation, target);
  const faults = [...stepFaults(filled, reply), ...generalFaults(filled, reply, { conversation, target })];
  if (faults.length > 0) {
    const { method, path } = filled.request;
    throw new Error(
      `${conversation.name}, "${step.name}": ${method} ${path}\n  ${faults.join('\n  ')}\n  answer ${reply.status}: ${reply.text.slice(0, 2_000)}`,
    );
  }
  for (const [name, pointer] of Object.entries(step.capture ?? {})) {
    variables.set(name.replace(/\$\{index\}/, index), captured(step, pointer, reply));
  }
}

function captured(step: Step, pointer: string, reply: Reply): string {
  const value = pointer === 'ETag' ? reply.headers.get('etag') : at(reply.body, pointer);
  if (value === undefined || value === null) throw new Error(`"${step.name}" has nothing at ${pointer}`);
  return String(value);
}

async function send({ request }: Step, conversation: Conversation, target: Target): Promise<Reply> {
  const body = request.text ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
  const response = await fetch(target.baseUrl + request.path, {
    method: request.method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${target.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/scim+json; charset=utf-8' }),
      ...conversation.headers,
      ...request.headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

function stepFaults({ expect }: Step, reply: Reply): string[] {
  const faults: string[] = [];
  if (reply.status !== expect.status) faults.push(`status ${reply.status} instead of ${expect.status}`);
  if (expect.empty === true && reply.text !== '') faults.push('the answer has a body');
  if (expect.body !== undefined) faults.push(...mismatch(expect.body, reply.body));
  for (const pointer of expect.absent ?? []) {
    if (at(reply.body, pointer) !== undefined) faults.push(`${pointer} should not be there`);
  }
  for (const [name, wanted] of Object.entries(expect.headers ?? {})) {
    faults.push(...mismatch(wanted, reply.headers.get(name) ?? undefined, `header ${name}`));
  }
  return faults;
}

/** What holds for every answer: its media type, the shape of errors, and that no password is ever in it. */
function generalFaults(
  { request }: Step,
  reply: Reply,
  { conversation, target }: Pick<Surroundings, 'conversation' | 'target'>,
): string[] {
  const faults: string[] = [];
  const isPlainJson = { ...conversation.headers, ...request.headers }.accept === 'application/json';
  const wanted = isPlainJson ? 'application/json' : 'application/scim+json';
  if (reply.text !== '')
    faults.push(...mismatch(wanted, reply.headers.get('content-type') ?? '', 'media type'));
  if (reply.status >= 400) {
    faults.push(...mismatch({ schemas: [errorUrn], status: String(reply.status) }, reply.body, 'error'));
  }
  if (/"password"\s*:/i.test(reply.text)) faults.push('a password is in the answer');
  const location = at(reply.body, '/meta/location');
  if (location !== undefined && !String(location).startsWith(`${target.baseUrl}/`)) {
    faults.push(`meta.location ${location} does not begin with ${target.baseUrl}`);
  }
  return faults;
}
