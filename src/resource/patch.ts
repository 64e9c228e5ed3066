// PATCH: a list of operations applied to one resource, all or nothing, without changing the one given.
// Never touches the members of a group (patch-members.ts) and never repairs (the dialect's repairs run before).
// Renders RFC 7644 §3.5.2, errors as §3.12; an operation that is not understood is refused, never skipped.

import { DomainError } from '../errors.ts';
import { isCoreUrn, type LookupOptions } from './attribute-lookup.ts';
import { readAttribute, writeAttribute } from './document.ts';
import { checkExtension, isBookkeeping, isPassword, notAnExtension, withSchemas } from './normalise.ts';
import { boundedKeys, givenTwice, type IgnoredAttribute, NormaliseTally } from './normalise-value.ts';
import { applyToList } from './patch-list.ts';
import { atOperation, type PatchOperation } from './patch-operation.ts';
import { changeValue, type ValueChange } from './patch-value.ts';
import { type AttributeTarget, resolvePath } from './path.ts';
import {
  type AttributeDefinition,
  type ExtensionDefinition,
  findAttribute,
  findBareExtensionAttribute,
  findExtension,
  type ResourceType,
} from './schema.ts';
import { equalValues, isArray, isObject, type ScimObject, type ScimValue } from './value.ts';

export interface PatchOptions extends LookupOptions {
  /** `add` with `emails[type eq "work"].value` where none matches creates that element (Entra E3). */
  readonly createForValuePath?: boolean;
  /** What else an operation means: is given the resource before and after each one. */
  readonly settle?: (before: ScimObject, after: ScimObject) => ScimObject;
}

export interface PatchResult {
  /** A new object; the given one is never changed. Equal by `equalResources` when nothing changed. */
  readonly resource: ScimObject;
  /** What path-less values held that was left out. */
  readonly ignored: readonly IgnoredAttribute[];
  /** Paths for which an element was created: the repair `element-created-for-value-path`. */
  readonly createdForPaths: readonly string[];
  /** Extension attributes that were named without their URN: a repair to record. */
  readonly bareNames: readonly string[];
}

/** All or nothing. Throws `invalidPath`, `invalidFilter`, `noTarget`, `mutability`, `invalidValue`, `invalidSyntax`. */
export function applyPatch(
  resourceType: ResourceType,
  resource: ScimObject,
  operations: readonly PatchOperation[],
  options: PatchOptions = {},
): PatchResult {
  const patcher = new Patcher(resourceType, resource, options);
  for (const [index, operation] of operations.entries()) {
    const origin = operation.origin ?? { number: index + 1, of: operations.length };
    atOperation(origin, () => patcher.apply(operation));
  }
  return patcher.result();
}

/** Holds the resource as it stands after the operations so far, and what there is to report. */
class Patcher {
  private resource: ScimObject;
  private readonly tally = new NormaliseTally();
  private readonly createdForPaths: string[] = [];
  private readonly bareNames: string[] = [];
  /** Extensions of which something was written. */
  private readonly touched = new Set<string>();
  private readonly resourceType: ResourceType;
  private readonly options: PatchOptions;

  constructor(resourceType: ResourceType, resource: ScimObject, options: PatchOptions) {
    this.resourceType = resourceType;
    this.resource = resource;
    this.options = options;
  }

  result(): PatchResult {
    for (const urn of this.touched) checkExtension(this.resourceType, urn, this.resource);
    return {
      resource: withSchemas(this.resourceType, this.resource),
      ignored: this.tally.ignored,
      createdForPaths: this.createdForPaths,
      bareNames: this.bareNames,
    };
  }

  apply(operation: PatchOperation): void {
    const before = this.resource;
    this.change(operation);
    this.resource = this.options.settle?.(before, this.resource) ?? this.resource;
  }

  private change(operation: PatchOperation): void {
    const { path } = operation;
    const target = path === undefined ? undefined : resolvePath(this.resourceType, path, this.options);
    if (target === undefined || target.kind === 'resource') {
      this.applyToResource(operation);
    } else if (target.kind === 'extension') {
      this.applyToExtension(target.extension, operation);
    } else {
      if (target.bare) this.bareNames.push(path ?? '');
      this.applyToAttribute(target, operation, path ?? '');
    }
  }

  /** RFC 7644 §3.5.2.1, §3.5.2.3: without a path the value is a set of attributes. */
  private applyToResource(operation: PatchOperation): void {
    const { op, value } = operation;
    if (op === 'remove') {
      throw new DomainError('noTarget', 'A remove without a path names nothing to remove; give it a path.');
    }
    if (!isObject(value)) {
      throw new DomainError(
        'invalidValue',
        `The value of ${op === 'add' ? 'an add' : `a ${op}`} without a path must be an object of attributes.`,
      );
    }
    const names = boundedKeys(value);
    const seen = new Set<AttributeDefinition>();
    let understood = names.length === 0;
    for (const name of names)
      understood = this.applyMember(name, value[name] ?? null, { op, seen }) || understood;
    if (!understood) {
      throw new DomainError(
        'invalidPath',
        `The value names no attribute of ${this.resourceType.name}: ${listed(names)}.`,
      );
    }
  }

  /** Whether the name was understood. */
  private applyMember(name: string, value: ScimValue, { op, seen }: MemberContext): boolean {
    const extension = findExtension(this.resourceType, name);
    if (extension !== undefined) {
      this.applyToExtension(extension, { op, value });
      return true;
    }
    const attribute = findAttribute(this.resourceType, name) ?? this.findBare(name);
    if (attribute === undefined) this.tally.ignoreUnknown(name);
    else this.applyWhole(attribute, value, { op, seen });
    return attribute !== undefined;
  }

  private findBare(name: string): AttributeDefinition | undefined {
    if (this.options.bareExtensionNames !== true) return undefined;
    const attribute = findBareExtensionAttribute(this.resourceType, name);
    if (attribute !== undefined) this.bareNames.push(name);
    return attribute;
  }

  private applyWhole(attribute: AttributeDefinition, value: ScimValue, { op, seen }: MemberContext): void {
    if (seen.has(attribute)) throw givenTwice(attribute);
    seen.add(attribute);
    if (isBookkeeping(attribute) && attribute.name !== 'id') return;
    if (isPassword(attribute)) {
      this.tally.ignore(attribute.path, 'password');
      return;
    }
    const target = {
      kind: 'attribute',
      attribute,
      subAttribute: undefined,
      filter: undefined,
      bare: false,
    } as const;
    this.applyToAttribute(target, { op, value }, attribute.path);
  }

  /** The URN of an extension as path or key: a set of its attributes, which are changed; the others stay. */
  private applyToExtension(extension: ExtensionDefinition, { op, value = null }: PatchOperation): void {
    const urn = extension.schema.id;
    if (op === 'remove' || value === null || value === '') {
      this.removeExtension(extension);
      return;
    }
    if (!isObject(value)) throw notAnExtension(urn);
    const seen = new Set<AttributeDefinition>();
    for (const name of boundedKeys(value)) {
      const attribute = findAttribute(this.resourceType, name, urn);
      if (attribute === undefined) this.tally.ignoreUnknown(name, `${urn}:`);
      else this.applyWhole(attribute, value[name] ?? null, { op, seen });
    }
  }

  private removeExtension(extension: ExtensionDefinition): void {
    for (const attribute of new Set(extension.attributes.values())) {
      if (attribute.mutability === 'readOnly') continue;
      this.write(attribute, undefined);
    }
  }

  private applyToAttribute(target: AttributeTarget, operation: PatchOperation, path: string): void {
    const { attribute, subAttribute, filter } = target;
    const current = readAttribute(this.resource, attribute);
    if (this.isReadOnlyEcho(target, current, operation)) return;
    const change: ValueChange = { op: operation.op, value: operation.value, tally: this.tally };
    if (
      !attribute.multiValued ||
      (subAttribute === undefined && filter === undefined && operation.op === 'replace')
    ) {
      this.write(attribute, changeValue(attribute, subAttribute, current, change));
      return;
    }
    const { list, created } = applyToList({
      ...{ attribute, subAttribute, filter, current, change, path },
      create: this.options.createForValuePath === true,
    });
    if (created) this.createdForPaths.push(path);
    this.write(attribute, list);
  }

  private write(attribute: AttributeDefinition, value: ScimValue | undefined): void {
    if (value === undefined && attribute.required && readAttribute(this.resource, attribute) !== undefined) {
      throw new DomainError(
        'mutability',
        `The attribute ${attribute.path} is required and cannot be removed.`,
        {
          attribute: attribute.path,
        },
      );
    }
    if (attribute.extension !== undefined) this.touched.add(attribute.extension);
    this.resource = writeAttribute(this.resource, attribute, value);
  }

  /** True for an unchanged readOnly value, which clients echo (Okta's id); throws `mutability` for a changed one. */
  private isReadOnlyEcho(
    target: AttributeTarget,
    current: ScimValue | undefined,
    operation: PatchOperation,
  ): boolean {
    const { attribute, subAttribute, filter } = target;
    const named = subAttribute ?? attribute;
    if (isPassword(attribute)) throw notMutable(named, 'can only be given when the user is created');
    if (attribute.mutability !== 'readOnly' && named.mutability !== 'readOnly') return false;
    const held = subAttribute !== undefined && isObject(current) ? current[subAttribute.name] : current;
    const isSame = filter === undefined && equalValues(held, operation.value);
    if (operation.op !== 'remove' && (isSame || this.isKnownSchemas(attribute, operation.value))) return true;
    throw notMutable(named, 'is read-only; leave it out');
  }

  /** `schemas` follows from the content: to name URNs that the resource type has is fine and changes nothing. */
  private isKnownSchemas(attribute: AttributeDefinition, value: ScimValue | undefined): boolean {
    if (attribute.schema !== '' || attribute.name !== 'schemas' || !isArray(value)) return false;
    const { resourceType } = this;
    return value.every(
      (urn) =>
        typeof urn === 'string' &&
        (isCoreUrn(resourceType, urn) || findExtension(resourceType, urn) !== undefined),
    );
  }
}

interface MemberContext {
  readonly op: PatchOperation['op'];
  readonly seen: Set<AttributeDefinition>;
}

function notMutable(attribute: AttributeDefinition, problem: string): DomainError {
  return new DomainError('mutability', `The attribute ${attribute.path} ${problem}.`, {
    attribute: attribute.path,
  });
}

function listed(names: readonly string[]): string {
  return names
    .slice(0, 5)
    .map((name) => name.slice(0, 80).toWellFormed())
    .join(', ');
}
