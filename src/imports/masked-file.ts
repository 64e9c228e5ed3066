import { createWriteStream, type WriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGzip, type Gzip } from 'node:zlib';

/** The copy of a document that is kept: compressed while it is written. */
export class MaskedFile {
  readonly #gzip: Gzip;
  readonly #done: Promise<void>;

  private constructor(file: WriteStream) {
    this.#gzip = createGzip({ level: 3 });
    this.#done = new Promise((resolve, reject) => {
      file.once('close', () => resolve());
      file.once('error', reject);
      this.#gzip.once('error', reject);
    });
    // Whoever writes learns of a failure from `write` or `close`; until then it must not end the process.
    this.#done.catch(() => undefined);
    this.#gzip.pipe(file);
  }

  /** Makes the file (0600). Throws when there is one already. */
  static async create(path: string): Promise<MaskedFile> {
    const handle = await open(path, 'wx', 0o600);
    await handle.close();
    return new MaskedFile(createWriteStream(path, { flags: 'r+', highWaterMark: 256 * 1024 }));
  }

  /** Resolves at once while there is room in the buffers, else when there is again. */
  write(text: string): void | Promise<void> {
    if (this.#gzip.write(text)) return;
    const drained = new Promise<void>((resolve) => this.#gzip.once('drain', resolve));
    return Promise.race([drained, this.#done]);
  }

  async close(): Promise<void> {
    this.#gzip.end();
    await this.#done;
  }
}
