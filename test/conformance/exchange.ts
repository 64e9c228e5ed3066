// What a client's recorded conversation is made of: the JSON files under clients/<client>/.
// The same files are replayed against the service in the test process and against the compiled executable.
// Requests have the shapes that clients really send; what each shows is said by the names of rows.ts (E1, O4, …).

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Conversation {
  /** Folder and file: `okta/users`. */
  readonly name: string;
  readonly about: string;
  /** Rows of rows.ts that the conversation as a whole shows. */
  readonly shows: readonly string[];
  /** Settings of the SCIM source that it needs, as the command line takes them. */
  readonly settings: Readonly<Record<string, string>>;
  /** Headers that the client sends with every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly name: string;
  /** Rows of rows.ts that this exchange shows. */
  readonly shows?: readonly string[];
  readonly request: StepRequest;
  readonly expect: Expectation;
  /** Variable to JSON pointer (RFC 6901) into the answer: later steps write `${variable}`. */
  readonly capture?: Readonly<Record<string, string>>;
  /** Sent this many times, with `${index}` counting from 1. */
  readonly times?: number;
  /** How many of them are under way together; 1 unless given. */
  readonly atOnce?: number;
}

export interface StepRequest {
  readonly method: string;
  /** Path and query below the base address, exactly as the client writes it. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A body that is no JSON. */
  readonly text?: string;
}

export interface Expectation {
  readonly status: number;
  /** Part of the answer: objects may have more members, lists must have as many elements. `{"$match": "regex"}` fits texts. */
  readonly body?: unknown;
  /** JSON pointers that must lead nowhere. */
  readonly absent?: readonly string[];
  readonly headers?: Readonly<Record<string, unknown>>;
  /** The answer has no body. */
  readonly empty?: boolean;
}

const clientsFolder = join(import.meta.dir, 'clients');

/** Every conversation there is, by client and file name. */
export function readConversations(): Conversation[] {
  return readdirSync(clientsFolder)
    .toSorted()
    .flatMap((client) =>
      readdirSync(join(clientsFolder, client))
        .filter((file) => file.endsWith('.json'))
        .toSorted()
        .map((file) => readConversation(client, file)),
    );
}

/** Every row that a conversation or one of its exchanges is said to show. */
export function shownRows(conversation: Conversation): readonly string[] {
  return [...conversation.shows, ...conversation.steps.flatMap((step) => step.shows ?? [])];
}

function readConversation(client: string, file: string): Conversation {
  const parsed = JSON.parse(readFileSync(join(clientsFolder, client, file), 'utf8')) as Partial<Conversation>;
  const { about, shows = [], settings = {}, headers = {}, steps } = parsed;
  if (about === undefined || steps === undefined || steps.length === 0) {
    throw new Error(`${client}/${file} needs about and steps`);
  }
  return { name: `${client}/${file.replace('.json', '')}`, about, shows, settings, headers, steps };
}
