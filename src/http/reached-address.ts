import { bareHost, type HostRules } from './hosts.ts';

export type Scheme = 'http' | 'https';

/** What follows from the name by which a client reached the service. */
export interface ReachedAddress {
  /** Scheme and host for absolute links: the configured ones, else those by which the client came. */
  readonly baseUrl: string;
  /** Scheme and host as an Origin header has them; '' for unknown. */
  readonly origin: string;
  /** Whether the service answers under this name. */
  readonly isAllowed: boolean;
}

/** Spellings of our own names: a client may vary the letter case and the port. */
const keptMax = 100;

/** Reads a Host header once for all the requests that have the same one. */
export class ReachedAddresses {
  readonly #hosts: HostRules;
  readonly #publicUrl: string | undefined;
  readonly #kept = new Map<string, ReachedAddress>();

  constructor(hosts: HostRules, publicUrl: string | undefined) {
    this.#hosts = hosts;
    this.#publicUrl = publicUrl;
  }

  addressOf(scheme: Scheme, host: string | null): ReachedAddress {
    const reached = `${scheme}://${host ?? ''}`;
    const kept = this.#kept.get(reached);
    if (kept !== undefined) return kept;
    const address = {
      baseUrl: this.#publicUrl ?? reached,
      origin: originOf(reached, this.#publicUrl),
      isAllowed: host !== null && this.#hosts.allowed.has(bareHost(host)),
    };
    if (address.isAllowed) this.#keep(reached, address);
    return address;
  }

  /** Names that are not ours are not kept: anybody may send any number of them. */
  #keep(reached: string, address: ReachedAddress): void {
    if (this.#kept.size >= keptMax) this.#kept.clear();
    this.#kept.set(reached, address);
  }
}

/** A proxy on this machine that is not known as one hides TLS; the public URL under its own host tells of it. */
function originOf(reached: string, publicUrl: string | undefined): string {
  const here = URL.parse(reached);
  const published = publicUrl === undefined ? null : URL.parse(publicUrl);
  const isPublished = published !== null && published.host === here?.host;
  return (isPublished ? published.origin : here?.origin) ?? '';
}
