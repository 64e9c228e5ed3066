import { createReadStream } from 'node:fs';
import { DomainError } from '../errors.ts';
import { type DocumentProblem, type ValidationResult, validateDocument } from '../xml/validate.ts';
import { XmlError } from '../xml/xml.ts';
import { MaskedFile } from './masked-file.ts';

/** What `rollcall inspect FILE [--masked FILE] [--bytes-max N]` is asked. */
export interface InspectArguments {
  readonly file: string;
  /** Where the masked, gzip-compressed copy is written (0600, created); absent for none. */
  readonly masked?: string;
  readonly documentBytesMax?: number;
}

/** The judgement on a document, as one line of JSON. */
export type Verdict =
  | {
      readonly valid: true;
      readonly domain: string;
      readonly ldapid: string;
      readonly options: Readonly<Record<string, string>>;
      /** Line and column of `syncoptions`. */
      readonly line: number;
      readonly column: number;
      readonly users: number;
      readonly groups: number;
      readonly warnings: readonly string[];
    }
  | {
      readonly valid: false;
      readonly kind: XmlError['kind'];
      /** The first ones, in the order of the file. */
      readonly errors: readonly DocumentProblem[];
      readonly total: number;
      /** There may be more: reading stopped before the end. */
      readonly isTotalPartial: boolean;
    };

/** Judges the document at `file`, in this process. Throws what the file system throws. */
export async function inspectDocument({
  file,
  masked,
  documentBytesMax,
}: InspectArguments): Promise<Verdict> {
  const limits = documentBytesMax === undefined ? {} : { documentBytesMax };
  const copy = masked === undefined ? undefined : await MaskedFile.create(masked);
  try {
    const stream = createReadStream(file, { highWaterMark: 256 * 1024 });
    const onMasked = copy && ((text: string) => copy.write(text));
    return toVerdict(await validateDocument(stream, { limits, ...(onMasked ? { onMasked } : {}) }));
  } catch (error) {
    if (error instanceof XmlError) return refusedAt(error);
    throw error;
  } finally {
    await copy?.close();
  }
}

function toVerdict(result: ValidationResult): Verdict {
  if (!result.valid) return result;
  const { head, domain, ldapid, options, users, groups, warnings } = result;
  const { line, column } = head;
  return {
    valid: true,
    domain,
    ldapid,
    options: Object.fromEntries(options),
    line,
    column,
    users,
    groups,
    warnings,
  };
}

function refusedAt({ kind, line, column, path, message }: XmlError): Verdict {
  return { valid: false, kind, errors: [{ line, column, path, message }], total: 1, isTotalPartial: true };
}

/** The words after `inspect` that ask for these arguments. */
export function inspectWords({ file, masked, documentBytesMax }: InspectArguments): string[] {
  return [
    file,
    ...(masked === undefined ? [] : ['--masked', masked]),
    ...(documentBytesMax === undefined ? [] : ['--bytes-max', String(documentBytesMax)]),
  ];
}

/** Body of the hidden command `inspect`: `words` are those after it; prints the verdict as one line. */
export async function inspectCommand(
  words: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  print(JSON.stringify(await inspectDocument(readWords(words))));
  return 0;
}

function readWords([file, ...options]: readonly string[]): InspectArguments {
  if (file === undefined)
    throw new DomainError('invalidValue', 'Name the file: inspect FILE [--masked FILE] [--bytes-max N].');
  const after = (name: string) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
  const [masked, bytesMax] = [after('--masked'), after('--bytes-max')];
  return {
    file,
    ...(masked === undefined ? {} : { masked }),
    ...(bytesMax === undefined ? {} : { documentBytesMax: Number(bytesMax) }),
  };
}
