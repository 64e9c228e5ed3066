// What RFC 7644 §3.5 makes of a user, written as naively as can be: attributes by their path, lists as arrays.
// It knows nothing of the product; only what the tests generate is understood.

import { enterpriseUrn, platformUrn } from '../support/app.ts';

export type Element = Readonly<Record<string, string | boolean>>;
export type Plain = string | boolean;

export const lists = ['emails', 'phoneNumbers', 'ims', 'addresses'] as const;
export type ListName = (typeof lists)[number];

export const singles = [
  'title',
  'nickName',
  'active',
  'name.givenName',
  'name.familyName',
  `${enterpriseUrn}:employeeNumber`,
  `${enterpriseUrn}:division`,
  `${enterpriseUrn}:organization`,
  `${enterpriseUrn}:department`,
  `${enterpriseUrn}:manager.value`,
  `${platformUrn}:location`,
  `${platformUrn}:bio`,
] as const;
export type Single = (typeof singles)[number];

/** One PATCH operation, in words. */
export type Step =
  | { readonly kind: 'set'; readonly op: 'add' | 'replace'; readonly path: Single; readonly value: Plain }
  | { readonly kind: 'unset'; readonly path: Single }
  | {
      readonly kind: 'list';
      readonly op: 'add' | 'replace';
      readonly list: ListName;
      readonly elements: readonly Element[];
    }
  | { readonly kind: 'clear'; readonly list: ListName }
  | { readonly kind: 'removeWhere'; readonly list: ListName; readonly type: string }
  | {
      readonly kind: 'elementWhere';
      readonly op: 'add' | 'replace';
      readonly list: ListName;
      readonly type: string;
      readonly element: Element;
    }
  | {
      readonly kind: 'partWhere';
      readonly op: 'add' | 'replace' | 'remove';
      readonly list: ListName;
      readonly type: string;
      readonly value: string;
    }
  | {
      readonly kind: 'pathless';
      readonly op: 'add' | 'replace';
      readonly attributes: readonly (readonly [Single, Plain])[];
      readonly isDotted: boolean;
    };

/** A request that cannot be done: nothing of it may be. */
export class Refused extends Error {}

export const partOf = (list: ListName) => (list === 'addresses' ? 'locality' : 'value');

export class NaiveUser {
  singles = new Map<Single, Plain>();
  lists = new Map<ListName, readonly Element[]>();

  copy(): NaiveUser {
    const copy = new NaiveUser();
    copy.singles = new Map(this.singles);
    copy.lists = new Map(this.lists);
    return copy;
  }

  apply(step: Step): void {
    switch (step.kind) {
      case 'set':
        this.singles.set(step.path, step.value);
        return;
      case 'unset':
        this.singles.delete(step.path);
        return;
      case 'pathless':
        for (const [path, value] of step.attributes) this.singles.set(path, value);
        return;
      case 'list':
        this.#setList(step.list, step.op === 'replace' ? step.elements : this.#added(step));
        return;
      case 'clear':
        this.#setList(step.list, []);
        return;
      case 'removeWhere':
        this.#setList(
          step.list,
          this.#list(step.list).filter((element) => element.type !== step.type),
        );
        return;
      default:
        this.#applyWhere(step);
    }
  }

  #list(name: ListName): readonly Element[] {
    return this.lists.get(name) ?? [];
  }

  #setList(name: ListName, elements: readonly Element[]): void {
    const saying = elements.filter((element) =>
      Object.keys(element).some((key) => key !== 'type' && key !== 'primary'),
    );
    if (saying.length === 0) this.lists.delete(name);
    else this.lists.set(name, saying);
  }

  #added({ list, elements }: Extract<Step, { kind: 'list' }>): readonly Element[] {
    let result = [...this.#list(list)];
    for (const element of elements) {
      const at = result.findIndex((held) => isSame(held, element));
      const merged = at < 0 ? element : { ...result[at], ...element };
      if (at < 0) result.push(merged);
      else result[at] = merged;
      if (element.primary === true) result = onlyPrimary(result, merged);
    }
    return result;
  }

  #applyWhere(step: Extract<Step, { kind: 'elementWhere' | 'partWhere' }>): void {
    const before = this.#list(step.list);
    const matches = before.filter((element) => element.type === step.type);
    if (matches.length === 0 && step.op === 'remove') return;
    if (matches.length === 0 && step.op === 'replace') throw new Refused('no target');
    const held = matches.length === 0 ? [...before, { type: step.type }] : before;
    const changed = held.map((element) => (element.type === step.type ? change(step, element) : element));
    const marked =
      step.kind === 'elementWhere' && step.element.primary === true
        ? changed.filter((_, index) => held[index]?.type === step.type)
        : [];
    if (marked.length > 1) throw new Refused('two primaries');
    this.#setList(step.list, marked[0] === undefined ? changed : onlyPrimary(changed, marked[0]));
  }
}

function change(step: Extract<Step, { kind: 'elementWhere' | 'partWhere' }>, element: Element): Element {
  if (step.kind === 'elementWhere')
    return step.op === 'replace' ? step.element : { ...element, ...step.element };
  const { [partOf(step.list)]: _former, ...rest } = element;
  return step.op === 'remove' ? rest : { ...rest, [partOf(step.list)]: step.value };
}

function onlyPrimary(elements: readonly Element[], primary: Element): Element[] {
  return elements.map((element) =>
    element !== primary && element.primary === true ? { ...element, primary: false } : element,
  );
}

/** RFC 7643 §2.4: value and type make an element; without a value, all of it but `primary`. */
function isSame(held: Element, element: Element): boolean {
  if (held.value !== undefined || element.value !== undefined)
    return held.value === element.value && held.type === element.type;
  const { primary: _held, ...one } = held;
  const { primary: _element, ...other } = element;
  return Bun.deepEquals(one, other);
}

/** `path` as nested objects: `urn:…:User:manager.value` is in the extension's object, in `manager`. */
export function nested(attributes: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [path, value] of attributes) {
    const urn = [enterpriseUrn, platformUrn].find((candidate) => path.startsWith(`${candidate}:`));
    const names = (urn === undefined ? path : path.slice(urn.length + 1)).split('.');
    let holder = result;
    for (const name of [...(urn === undefined ? [] : [urn]), ...names.slice(0, -1)]) {
      holder[name] ??= {};
      holder = holder[name] as Record<string, unknown>;
    }
    holder[names.at(-1) ?? ''] = value;
  }
  return result;
}
