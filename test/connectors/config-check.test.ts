import { describe, expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { checkConfig } from '../../src/connectors/config-check.ts';

const schema = Type.Object(
  {
    engine: Type.Union([Type.Literal('postgres'), Type.Literal('sqlite')]),
    port: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
);

describe('checkConfig', () => {
  const refused: readonly (readonly [given: unknown, sentence: string])[] = [
    [{ engine: 'oracle' }, '"engine" must be one of "postgres", "sqlite".'],
    [{ engine: 7, port: 1 }, '"engine" must be one of "postgres", "sqlite".'],
    [{ engine: 'sqlite', port: 'x' }, '"port" must be a whole number.'],
    [{}, '"engine" is missing.'],
  ];

  test.each(refused)('says of %j what is allowed', (given, sentence) => {
    expect(() => checkConfig(schema, given)).toThrow(sentence);
  });
});
