import { join } from 'node:path';
import { DomainError } from '../errors.ts';
import type { BrokenConnector, ConnectorKind } from './connectors.ts';
import type { Connector } from './contract.ts';
import { readFolderConnectors } from './folder-connectors.ts';
import type { ProcessParts } from './host-command.ts';

interface ShippedKind {
  readonly kind: string;
  readonly load: () => Promise<{ readonly connector: Connector<never> }>;
}

/** The kinds that the executable brings, one line each. */
const shipped: readonly ShippedKind[] = [
  { kind: 'csv', load: () => import('../../connectors/csv/csv.ts') },
  { kind: 'entra', load: () => import('../../connectors/entra/entra.ts') },
  { kind: 'http-json', load: () => import('../../connectors/http-json/http-json.ts') },
  { kind: 'ldap', load: () => import('../../connectors/ldap/ldap.ts') },
  { kind: 'scim', load: () => import('../../connectors/scim/scim.ts') },
  { kind: 'sql', load: () => import('../../connectors/sql/sql.ts') },
];

/** A shipped connector. Throws `notFound` when there is none of that name. */
export async function loadShipped(kind: string): Promise<Connector<never>> {
  const found = shipped.find((each) => each.kind === kind);
  if (found === undefined) throw new DomainError('notFound', `There is no shipped connector "${kind}".`);
  return (await found.load()).connector;
}

export interface Connectors {
  readonly kinds: readonly ConnectorKind[];
  readonly broken: readonly BrokenConnector[];
}

/** The connectors of this executable and those of a folder. It keeps nothing: the folder may change. */
export class ConnectorRegistry {
  readonly #folder: string;
  readonly #parts: ProcessParts;

  constructor(dataFolder: string, parts: ProcessParts) {
    this.#folder = join(dataFolder, 'connectors');
    this.#parts = parts;
  }

  /** Every kind by name. What is wrong with one folder concerns no other. */
  async list(): Promise<Connectors> {
    const kinds = new Map<string, ConnectorKind>();
    for (const { kind } of shipped) kinds.set(kind, await describeShipped(kind));
    const broken: BrokenConnector[] = [];
    for (const { name, found } of await readFolderConnectors(this.#folder, this.#parts)) {
      const rival = typeof found === 'string' ? undefined : kinds.get(found.kind);
      if (typeof found === 'string') broken.push({ name, problem: found });
      else if (rival === undefined) kinds.set(found.kind, found);
      else broken.push({ name, problem: clashSentence(rival) });
    }
    return { kinds: [...kinds.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1)), broken };
  }

  /** Throws `notFound` with the kinds there are, and `invalidValue` with what is wrong with the folder of that name. */
  async get(kind: string): Promise<ConnectorKind> {
    if (shipped.some((each) => each.kind === kind)) return describeShipped(kind);
    const { kinds, broken } = await this.list();
    const found = kinds.find((each) => each.kind === kind);
    if (found !== undefined) return found;
    const fault = broken.find(({ name }) => name === kind);
    if (fault === undefined) throw unknownKind(kind, kinds);
    throw new DomainError('invalidValue', `The connector "${kind}" cannot be used: ${fault.problem}`);
  }
}

async function describeShipped(kind: string): Promise<ConnectorKind> {
  const { summary, configSchema, canDelta = false } = await loadShipped(kind);
  return { kind, summary, configSchema, canDelta, form: { form: 'shipped' } };
}

function clashSentence({ kind, form }: ConnectorKind): string {
  const holder = form.form === 'shipped' ? 'a shipped connector' : form.folder;
  return `Its kind "${kind}" is that of ${holder} already; give it another one.`;
}

function unknownKind(kind: string, kinds: readonly ConnectorKind[]): DomainError {
  const names = kinds.map((each) => each.kind).join(', ');
  const known = names === '' ? 'there are none; "rollcall connector new" makes one' : `there are: ${names}`;
  return new DomainError('notFound', `There is no connector "${kind}"; ${known}.`);
}
