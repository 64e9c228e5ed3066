import { DomainError } from '../errors.ts';
import { toStorageError } from '../storage/constraints.ts';

/** What keeps a run from going on for a while; nothing is wrong with its document. */
export interface Interruption {
  /** A sentence: what is in the way, and what to do. */
  readonly reason: string;
  /** The document is not where it was. */
  readonly isDocumentGone: boolean;
}

const fileSentences: Readonly<Record<string, string>> = {
  ENOENT: 'is gone from the folder drop/; put it back, or cancel the import and send the file again',
  EACCES: 'cannot be read; let the user that runs rollcall read the folder drop/',
  EPERM: 'cannot be read; let the user that runs rollcall read the folder drop/',
  EIO: 'cannot be read; look at the disk',
  ESTALE: 'cannot be read; look at the disk that holds the folder drop/',
  EMFILE: 'cannot be opened: too many files are open',
  ENFILE: 'cannot be opened: too many files are open',
};

/** What has interrupted a run; undefined for an error that would come again. */
export function interruptionOf(error: unknown): Interruption | undefined {
  const code = (error as { code?: string } | null)?.code ?? '';
  const sentence = Object.hasOwn(fileSentences, code) ? fileSentences[code] : undefined;
  if (sentence !== undefined)
    return { reason: `The document of the import ${sentence}.`, isDocumentGone: code === 'ENOENT' };
  // Serialization failure and deadlock, which `Database.write` has tried to get past already.
  if (code === '40001' || code === '40P01') return { reason: busySentence, isDocumentGone: false };
  const known = toStorageError(error);
  if (!(known instanceof DomainError)) return undefined;
  if (known.kind === 'storageFull') return { reason: fullSentence, isDocumentGone: false };
  return known.kind === 'unavailable' ? { reason: busySentence, isDocumentGone: false } : undefined;
}

const fullSentence =
  'The disk of the database is full; free some space, and the import goes on where it stopped.';
const busySentence =
  'The database cannot be written now (locked, or not to be reached); the import goes on where it stopped.';
