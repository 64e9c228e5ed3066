import type { Config, ConfigSchema } from './connectors.ts';

const depthMax = 32;
/** A shorter text is no secret, and to strike it out would leave nothing to read. */
const secretLengthMin = 4;
/** A line of a key that is written on several is as good as the key to whoever greps for it. */
const lineLengthMin = 12;
const struck = '********';

/** The configuration with what `change` makes of each value that its schema marks `"writeOnly": true`. */
export function mapSecrets(
  schema: ConfigSchema,
  config: Config,
  change: (value: unknown, place: string) => unknown,
): Config {
  const walk = new SecretWalk(schema, change);
  return walk.into([schema], config, { place: '', depth: 0 }) as Config;
}

/** The configuration as it may be shown: every secret is struck out. */
export function withoutSecrets(schema: ConfigSchema, config: Config): Config {
  return mapSecrets(schema, config, () => struck);
}

/** Every text that stands where the schema marks a secret. */
export function secretsOf(schema: ConfigSchema, config: Config): string[] {
  const found: string[] = [];
  mapSecrets(schema, config, (value) => {
    found.push(...textsIn(value, 0));
    return value;
  });
  return found;
}

function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null || depth > depthMax) return [];
  return Object.values(value).flatMap((each) => textsIn(each, depth + 1));
}

interface Place {
  readonly place: string;
  readonly depth: number;
}

/** Walks a schema and a value side by side; of alternatives, each that could be meant counts. */
class SecretWalk {
  constructor(
    readonly root: ConfigSchema,
    readonly change: (value: unknown, place: string) => unknown,
  ) {}

  into(schemas: readonly ConfigSchema[], value: unknown, at: Place): unknown {
    if (at.depth > depthMax || value === undefined) return value;
    const all = schemas.flatMap((schema) => this.#variants(schema, 0));
    if (all.some((schema) => schema.writeOnly === true)) return this.change(value, at.place);
    if (Array.isArray(value)) {
      return value.map((each, index) => this.into(itemSchemas(all, index), each, below(at, String(index))));
    }
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(
      ([name, each]) => [name, this.into(memberSchemas(all, name), each, below(at, name))] as const,
    );
    return Object.fromEntries(entries);
  }

  #variants(schema: unknown, depth: number): ConfigSchema[] {
    if (!isSchema(schema) || depth > depthMax) return [];
    const others = ['allOf', 'anyOf', 'oneOf', 'then', 'else'].flatMap((name) => listOf(schema[name]));
    const referred = typeof schema.$ref === 'string' ? [this.#referred(schema.$ref)] : [];
    return [schema, ...[...others, ...referred].flatMap((each) => this.#variants(each, depth + 1))];
  }

  /** `#/$defs/name` within the schema itself. */
  #referred(reference: string): unknown {
    if (!reference.startsWith('#')) return undefined;
    const steps = decodeURIComponent(reference).split('/').slice(1);
    return steps.reduce<unknown>((found, step) => {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      return isSchema(found) && Object.hasOwn(found, name) ? found[name] : undefined;
    }, this.root);
  }
}

function below({ place, depth }: Place, name: string): Place {
  return { place: place === '' ? name : `${place}.${name}`, depth: depth + 1 };
}

function itemSchemas(schemas: readonly ConfigSchema[], index: number): ConfigSchema[] {
  const own = schemas.flatMap(({ prefixItems }) => (Array.isArray(prefixItems) ? prefixItems[index] : []));
  return [...own, ...schemas.flatMap(({ items }) => listOf(items))].filter(isSchema);
}

function memberSchemas(schemas: readonly ConfigSchema[], name: string): ConfigSchema[] {
  return schemas
    .flatMap(({ properties, patternProperties, additionalProperties }) => [
      isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined,
      ...(isSchema(patternProperties) ? Object.values(patternProperties) : []),
      isSchema(properties) && Object.hasOwn(properties, name) ? undefined : additionalProperties,
    ])
    .filter(isSchema);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function isSchema(value: unknown): value is ConfigSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Strikes secrets out of whatever a connector says, in the forms in which one is usually written. */
export class SecretMask {
  readonly #forms: readonly string[];
  /** Characters of the longest form. */
  readonly lengthMax: number;

  constructor(secrets: readonly string[]) {
    const lines = secrets.flatMap((secret) =>
      secret.split(/\r?\n/).filter((line) => line.length >= lineLengthMin && line !== secret),
    );
    const long = [...secrets, ...lines].filter((secret) => secret.length >= secretLengthMin);
    this.#forms = [...new Set(long.flatMap(formsOf))].sort((a, b) => b.length - a.length);
    this.lengthMax = this.#forms[0]?.length ?? 0;
  }

  strike(text: string): string {
    let left = text;
    for (const form of this.#forms) left = left.replaceAll(form, struck);
    return left;
  }

  /** The same for every text in a JSON value. */
  strikeIn<V>(value: V): V {
    if (this.#forms.length === 0) return value;
    return JSON.parse(JSON.stringify(value), (_name, each) =>
      typeof each === 'string' ? this.strike(each) : each,
    );
  }
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const xml = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const forms = [
    secret,
    json,
    json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    xml,
    xml.replaceAll('"', '&quot;'),
    encodeURIComponent(secret.toWellFormed()),
    new URLSearchParams([['', secret]]).toString().slice(1),
    bytes.toString('hex'),
    ...base64Forms(bytes),
  ];
  return forms.filter((form) => form.length >= secretLengthMin);
}

/** How the bytes read inside longer base64, whatever stands before them: `Basic` sends user and password so. */
function base64Forms(bytes: Buffer): string[] {
  if (bytes.length < 6) return [];
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const whole = Math.floor((bytes.length + shift) / 3) * 4;
    const form = text.slice(shift === 0 ? 0 : shift + 1, whole);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
