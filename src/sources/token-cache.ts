import type { RecognisedToken } from './source-store.ts';

/** More sources than any installation has; a cache that is full starts anew. */
const tokensMax = 1_000;

interface Kept {
  readonly token: RecognisedToken;
  readonly version: string;
}

/**
 * Tokens that were looked up, by their SHA-256. One is good for exactly the version of the configuration that was read
 * before it was looked up: whoever changes a source or a token advances the version in the same transaction. Whether
 * a token has expired is for the caller to see at each use.
 */
export class TokenCache {
  readonly #kept = new Map<string, Kept>();

  /** `undefined` for a token that is not known, or was known under another version. */
  find(hash: string, version: string): RecognisedToken | undefined {
    const kept = this.#kept.get(hash);
    return kept?.version === version ? kept.token : undefined;
  }

  /** What was known of the token, under whichever version. */
  last(hash: string): RecognisedToken | undefined {
    return this.#kept.get(hash)?.token;
  }

  /** `version` was read before the token was. */
  keep(hash: string, version: string, token: RecognisedToken): void {
    if (this.#kept.size >= tokensMax) this.#kept.clear();
    this.#kept.set(hash, { token, version });
  }
}
