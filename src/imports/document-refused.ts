import { DomainError } from '../errors.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import type { GeneralSource } from '../sources/source-store.ts';
import type { DocumentProblem } from '../xml/validate.ts';
import type { Verdict } from './inspect.ts';

type InvalidVerdict = Extract<Verdict, { valid: false }>;

/** A document that is not accepted, with what is wrong in it. Kind `invalidValue`. */
export class DocumentRefused extends DomainError {
  readonly problems: readonly DocumentProblem[];
  readonly total: number;
  /** There may be more than `total`: reading stopped before the end. */
  readonly isTotalPartial: boolean;
  /** One for each problem, as it is told to people. */
  readonly sentences: readonly string[];

  constructor(
    problems: readonly DocumentProblem[],
    {
      sentences,
      total,
      isTotalPartial,
    }: { readonly sentences: readonly string[]; readonly total: number; readonly isTotalPartial: boolean },
  ) {
    super('invalidValue', sentences[0] ?? 'The file is invalid.');
    this.name = 'DocumentRefused';
    this.problems = problems;
    this.sentences = sentences;
    this.total = total;
    this.isTotalPartial = isTotalPartial;
  }
}

const schemaLead = 'The file is invalid compared to the schema.';

export function refuseInvalid({ kind, errors, total, isTotalPartial }: InvalidVerdict): DomainError {
  if (kind === 'tooLarge') {
    return new DomainError('payloadTooLarge', errors[0]?.message ?? 'The document is too large.');
  }
  const sentences = errors.map(({ message, line, column }) =>
    kind === 'schema' ? `${schemaLead} ${message}` : `${message} (line ${line}, column ${column})`,
  );
  return new DocumentRefused(errors, { sentences, total, isTotalPartial });
}

/** Checking takes this long only for a document that is wrong all over, or made to be expensive. */
export function refuseLate(deadlineMs: number): DocumentRefused {
  const message = `The file could not be checked within ${Math.ceil(deadlineMs / 1_000)} seconds, as happens when it is wrong in very many places. Check a part of it first.`;
  const problems = [{ line: 1, column: 1, path: '', message }];
  return new DocumentRefused(problems, { sentences: [message], total: 1, isTotalPartial: true });
}

/** Throws when the document names another source than the one it was sent to. */
export function refuseForeign(
  source: GeneralSource,
  { domain, ldapid, line, column }: Extract<Verdict, { valid: true }>,
): void {
  const messages = [
    ...(sameName(domain, source.name)
      ? []
      : [`The attribute 'domain' is '${shorten(domain)}', but this source is named '${source.name}'.`]),
    ...(Number(ldapid) === source.id
      ? []
      : [`The attribute 'ldapid' is '${shorten(ldapid)}', but the id of this source is ${source.id}.`]),
  ];
  if (messages.length === 0) return;
  const problems = messages.map((message) => ({ line, column, path: '/syncdata/syncoptions', message }));
  throw new DocumentRefused(problems, {
    sentences: messages,
    total: messages.length,
    isTotalPartial: false,
  });
}

/** White space inside a name counts as one space in the document, and letter case never matters in names of sources. */
function sameName(one: string, other: string): boolean {
  return canonicalKey(one.replace(/\s+/g, ' ')) === canonicalKey(other.replace(/\s+/g, ' '));
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
