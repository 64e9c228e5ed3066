import { DomainError } from '../../errors.ts';
import type { ResourceTypeName } from '../../resource/schema.ts';
import { scimBase } from '../call.ts';
import { bulkIdOf } from './references.ts';

/** What the path of an operation names: an endpoint, or one resource behind it. */
export interface BulkTarget {
  readonly type: ResourceTypeName;
  /** As it stands in the path, its escapes resolved. */
  readonly id: string | undefined;
  /** Set when the id is that of a resource which the same request creates: `/Users/bulkId:ann`. */
  readonly bulkId: string | undefined;
}

const endpoints: ReadonlyMap<string, ResourceTypeName> = new Map([
  ['Users', 'User'],
  ['Groups', 'Group'],
]);

/**
 * Reads `/Users`, `Users/7`, and the same behind the service's own base, with or without its host. Throws what the
 * single request would be told.
 */
export function readBulkPath(path: string, base: string): BulkTarget {
  const [endpoint = '', id, ...more] = relative(path, base).split('/').map(unescaped);
  const type = endpoints.get(endpoint);
  if (type === undefined || more.length > 0 || id === '') throw noSuchPath(endpoint);
  return { type, id, bulkId: id === undefined ? undefined : bulkIdOf(id) };
}

function relative(path: string, base: string): string {
  const known = [base, scimBase, scimBase.slice(1)].find(
    (each) => path === each || path.startsWith(`${each}/`),
  );
  return path
    .slice(known?.length ?? 0)
    .replace(/^\//, '')
    .replace(/\/$/, '');
}

/** An id never needs escapes, but `:` of `bulkId:` is escaped by some libraries. */
function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function noSuchPath(endpoint: string): DomainError {
  if (endpoint === 'Me') {
    return new DomainError('notImplemented', 'A source is not a person: there is no /Me here.');
  }
  if (endpoint === 'Bulk') {
    const detail = 'A Bulk cannot stand inside a Bulk; send its operations beside the others.';
    return new DomainError('invalidValue', detail, { attribute: 'path' });
  }
  const detail = 'There is nothing at this path for a Bulk; it takes /Users, /Groups, and these with an id.';
  return new DomainError('notFound', detail);
}
