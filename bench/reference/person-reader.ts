import { createReadStream } from 'node:fs';
import { SaxesParser } from 'saxes';

export interface Person {
  readonly id: string;
  readonly userName: string;
  /** Canonical text of the record, as far as the limit goes: the same record gives the same text. */
  readonly document: string;
}

const chunkBytes = 256 * 1024;

/** The text of the file in pieces. */
export async function* readText(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of createReadStream(file, { highWaterMark: chunkBytes })) {
    yield decoder.decode(chunk as Uint8Array, { stream: true });
  }
}

/** Reads people out of text that is given to `push`, with saxes and nothing around it. */
export class PersonReader {
  readonly #parser = new SaxesParser();
  #path: string[] = [];
  #text = '';
  #people: Person[] = [];
  #current: { id: string; userName: string; facts: [string, Record<string, string>, string][] } | undefined;

  constructor() {
    this.#parser.on('opentag', ({ name, attributes }) => this.#open(name, attributes));
    this.#parser.on('text', (text) => {
      this.#text += text;
    });
    this.#parser.on('closetag', ({ name, attributes }) => this.#close(name, attributes));
  }

  /** The people whose records have become complete. */
  push(text: string): readonly Person[] {
    this.#people = [];
    this.#parser.write(text);
    return this.#people;
  }

  end(): void {
    this.#parser.close();
  }

  #open(name: string, attributes: Record<string, string>): void {
    this.#text = '';
    this.#path.push(name);
    if (name !== 'user' || this.#path.length !== 3) return;
    this.#current = { id: attributes.id ?? '', userName: attributes.username ?? '', facts: [] };
  }

  #close(name: string, attributes: Record<string, string>): void {
    this.#path.pop();
    if (this.#current === undefined) return;
    if (name !== 'user' || this.#path.length !== 2) {
      this.#current.facts.push([name, attributes, this.#text]);
      this.#text = '';
      return;
    }
    const { id, userName, facts } = this.#current;
    this.#people.push({ id, userName, document: JSON.stringify([userName, facts]) });
    this.#current = undefined;
  }
}
