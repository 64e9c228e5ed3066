import { existsSync } from 'node:fs';
import {
  type LoggedRequest,
  type PageOptions,
  type RequestPage,
  type RequestQuery,
  RequestReader,
} from './request-reader.ts';

/** The request log as the console shows it: each look opens the file anew, and a log without a file yet is empty. */
export class RequestPages {
  readonly #log: { readonly path: string };

  constructor(log: { readonly path: string }) {
    this.#log = log;
  }

  /** Newest first, with bodies. */
  page(query: RequestQuery, options: Omit<PageOptions, 'withBodies'>): RequestPage {
    if (!existsSync(this.#log.path)) return { requests: [], next: undefined };
    using reader = new RequestReader(this.#log.path);
    return reader.page(query, { ...options, withBodies: true });
  }

  /** What came after a request that was seen, oldest first, with bodies. */
  later(query: RequestQuery, after: number): readonly LoggedRequest[] {
    if (!existsSync(this.#log.path)) return [];
    using reader = new RequestReader(this.#log.path);
    return reader.later(query, after, true);
  }
}
