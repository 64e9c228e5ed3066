import { DomainError } from '../errors.ts';

const causesMax = 5;

/**
 * The one sentence on stderr that says why a command failed, safe to show: for a DomainError its detail. With
 * `isVerbose` the stack and the causes follow.
 */
export async function failureText(
  error: unknown,
  { isVerbose }: { readonly isVerbose: boolean },
): Promise<string> {
  const { maskSecrets } = await import('../log.ts');
  const sentence = maskSecrets(`rollcall: ${oneLine(sentenceOf(error))}`);
  return isVerbose ? `${sentence}\n${maskSecrets(stacks(error))}` : sentence;
}

function sentenceOf(error: unknown): string {
  if (error instanceof DomainError) return error.detail;
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  // A refused connection has an empty message, and its code says it all.
  return error.message || (typeof code === 'string' ? code : error.name);
}

function oneLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  return /[.!?)]$/.test(line) ? line : `${line}.`;
}

/** Stacks alone: the other members of an error may hold what the statement at fault was given. */
function stacks(error: unknown): string {
  const found: string[] = [];
  for (let each = error; each instanceof Error && found.length < causesMax; each = each.cause) {
    found.push(each.stack ?? each.message);
  }
  return found.join('\ncaused by: ');
}
