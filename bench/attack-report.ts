import type { AttackResult, AttacksResult } from './attacks.ts';
import { number, table } from './table.ts';

const sentenceCharactersMax = 72;

/** Each attack with its answer, time and memory, and what identity providers noticed of it. */
export function attackSection({ attacks, scim }: AttacksResult): string {
  const head = ['', 'status', 'ms', 'inspect MiB', 'serve MiB', 'line:column', toLeft('answer')];
  const { requests, failed, p50Ms, p99Ms, maxMs } = scim;
  const meanwhile =
    `SCIM meanwhile: ${number(requests)} pages read, ${failed} failed; p50 ${p50Ms.toFixed(1)} ms, ` +
    `p99 ${p99Ms.toFixed(1)} ms, longest ${maxMs.toFixed(1)} ms`;
  return `${table('Attacks on the upload', head, attacks.map(toRow))}\n${meanwhile}`;
}

function toRow({ name, status, sentence, at, ms, inspectMib, serveMib }: AttackResult): string[] {
  const shown = sentence.replace(/^The file is invalid compared to the schema\. /, '');
  return [
    name,
    String(status),
    number(ms),
    inspectMib === undefined ? '–' : number(inspectMib),
    number(serveMib),
    at === undefined ? '' : at.join(':'),
    toLeft(shown.length > sentenceCharactersMax ? `${shown.slice(0, sentenceCharactersMax)}…` : shown),
  ];
}

/** A table keeps all but its first column to the right, where figures belong. */
function toLeft(text: string): string {
  return text.padEnd(sentenceCharactersMax + 1);
}
