// What a SCIM user has besides its own attributes, so that a mapping can name it: the primary address, the manager's id, and
// the attributes of extensions in the notation of RFC 7644 §3.10.

import type { SourceRecord } from '../../src/connectors/contract.ts';

const enterpriseUrn = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

type Attributes = Readonly<Record<string, unknown>>;

/** The resource with `primaryEmail`, `managerId`, `enterprise`, and `urn:…:User:attribute` for every extension. */
export function toColumns(resource: Attributes): Readonly<Record<string, unknown>> {
  const enterprise = asObject(find(resource, enterpriseUrn));
  return {
    ...resource,
    ...extensionAttributes(resource),
    enterprise,
    primaryEmail: primaryEmail(resource.emails),
    managerId: managerId(enterprise.manager),
  };
}

function extensionAttributes(resource: Attributes): SourceRecord {
  const columns: Record<string, unknown> = {};
  for (const [urn, extension] of Object.entries(resource)) {
    if (!/^urn:/i.test(urn)) continue;
    for (const [name, value] of Object.entries(asObject(extension))) {
      columns[`${urn}:${name}`] = value;
      for (const [inner, part] of Object.entries(asObject(value))) columns[`${urn}:${name}.${inner}`] = part;
    }
  }
  return columns;
}

/** The one that is marked, else the one from work, else the first. */
function primaryEmail(emails: unknown): unknown {
  const list = Array.isArray(emails) ? emails.map(asObject) : [];
  const chosen =
    list.find(({ primary }) => primary === true) ?? list.find(({ type }) => type === 'work') ?? list[0];
  return chosen?.value;
}

/** RFC 7643 §4.3 has an object; some servers send the id alone. */
function managerId(manager: unknown): string {
  const id = typeof manager === 'object' ? asObject(manager).value : manager;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : '';
}

/** Schema URNs are compared without regard to case. */
function find(resource: Attributes, urn: string): unknown {
  if (Object.hasOwn(resource, urn)) return resource[urn];
  return Object.entries(resource).find(([name]) => name.toLowerCase() === urn.toLowerCase())?.[1];
}

function asObject(value: unknown): Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Attributes) : {};
}
