import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { DomainError } from '../errors.ts';
import type { Config, ConfigSchema } from './connectors.ts';

const problemsShownMax = 5;

/**
 * The configuration with the defaults of its schema. Throws `invalidValue` with sentences that name each property at
 * fault, and never what it was given: that may be a secret.
 */
export function checkConfig(schema: ConfigSchema, given: unknown): Config {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new DomainError('invalidValue', 'The configuration must be a JSON object.');
  const validate = compile(schema);
  const config = structuredClone(given) as Config;
  if (validate(config)) return config;
  const sentences = [...new Set(choicesJoined(validate.errors ?? []).map(sentenceOf))];
  const more = sentences.length - problemsShownMax;
  const shown = sentences.slice(0, problemsShownMax).join(' ');
  throw new DomainError('invalidValue', more > 0 ? `${shown} (${more} more like these.)` : shown);
}

/** Throws an Error whose message is a sentence when `schema` is not the schema of an object. */
export function requireSchema(schema: unknown): void {
  const isObject = typeof schema === 'object' && schema !== null && !Array.isArray(schema);
  if (!isObject || (schema as ConfigSchema).type !== 'object')
    throw new Error('configSchema must be a JSON Schema with "type": "object".');
  try {
    compile(schema as ConfigSchema);
  } catch (error) {
    throw new Error(`configSchema is not a JSON Schema: ${(error as Error).message}.`);
  }
}

/** A new instance for each schema: it would keep every schema for ever. Formats are hints for forms here. */
function compile(schema: ConfigSchema): ValidateFunction {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: false,
    useDefaults: true,
    validateFormats: false,
    logger: false,
  });
  return ajv.compile(schema);
}

/** TypeBox says a choice as several constants: as many errors, and one more that says that none of them fits. */
function choicesJoined(errors: readonly ErrorObject[]): ErrorObject[] {
  const allowed = new Map<string, unknown[]>();
  for (const { keyword, instancePath, params } of errors) {
    if (keyword === 'const')
      allowed.set(instancePath, [...(allowed.get(instancePath) ?? []), params.allowedValue]);
  }
  return errors.flatMap((error) => {
    const allowedValues = allowed.get(error.instancePath);
    if (allowedValues === undefined) return [error];
    if (error.keyword === 'anyOf') return [];
    return error.keyword === 'const' ? [{ ...error, keyword: 'enum', params: { allowedValues } }] : [error];
  });
}

/** The error names the place and the rule; what stands there is left out. */
function sentenceOf({ instancePath, keyword, params, message = 'is not valid' }: ErrorObject): string {
  const place = placeOf(instancePath);
  const within = place === '' ? 'the configuration' : `"${place}"`;
  switch (keyword) {
    case 'required':
      return `"${joined(place, params.missingProperty)}" is missing.`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `"${joined(place, params.additionalProperty ?? params.unevaluatedProperty)}" is not a property of ${within === 'the configuration' ? within : `what ${within} holds`}.`;
    case 'enum':
      return `${capital(within)} must be one of ${(params.allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(', ')}.`;
    case 'type':
      return `${capital(within)} must be ${typeWords(params.type)}.`;
    default:
      return `${capital(within)} ${message}.`;
  }
}

/** `/pages/0/size` of JSON Pointer (RFC 6901) as `pages.0.size`. */
function placeOf(pointer: string): string {
  const steps = pointer.split('/').slice(1);
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}

function joined(place: string, name: unknown): string {
  return place === '' ? String(name) : `${place}.${String(name)}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

function typeWords(type: unknown): string {
  const types = Array.isArray(type) ? type : [type];
  return types.map((each) => typeNames[String(each)] ?? String(each)).join(' or ');
}
