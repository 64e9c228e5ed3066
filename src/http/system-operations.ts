import type { DomainError, ErrorKind } from '../errors.ts';
import { type Components, content, header, type Operation, type Responses, refusals } from './operation.ts';

const json = ['application/json'];

/** What belongs to no door, described; `toResponse` is how that surface refuses. */
export function systemOperations(toResponse: (error: DomainError) => Response) {
  const describe = (id: string, summary: string, answers: Responses, kinds: readonly ErrorKind[] = []) => {
    const refusing = { toResponse, schema: 'SystemError', mediaTypes: () => json };
    const responses = { ...answers, ...refusals(['misdirected', ...kinds], refusing) };
    return { operationId: id, tags: ['System'], summary, responses, security: [] } satisfies Operation;
  };
  return {
    root: describe('openConsole', 'Go to the console', {
      302: { description: 'To the console.', headers: { Location: header('Path of the console.') } },
    }),
    health: describe('getHealth', 'Whether the service answers', {
      200: { description: 'It does.', content: content('Health', json) },
    }),
    readiness: describe('getReadiness', 'Whether the service can do its work', {
      200: { description: 'Every check has passed.', content: content('Readiness', json) },
      503: { description: 'A check has failed.', content: content('Readiness', json) },
    }),
    metrics: describe(
      'getMetrics',
      'Metrics for Prometheus, for the machine itself and the addresses that are configured',
      { 200: { description: 'The metrics.', content: { 'text/plain': {} } } },
      ['notFound'],
    ),
    profileSchema: describe('getProfileSchema', 'XML Schema of the profile document', {
      200: { description: 'The schema.', content: { 'application/xml': {} } },
    }),
  };
}

export function systemComponents(): Components {
  const check = {
    type: 'object',
    required: ['name', 'passed'],
    properties: { name: { type: 'string' }, passed: { type: 'boolean' } },
  };
  return {
    schemas: {
      Health: { type: 'object', required: ['status'], properties: { status: { const: 'ok' } } },
      Readiness: {
        type: 'object',
        required: ['status', 'checks'],
        properties: { status: { enum: ['ok', 'unavailable'] }, checks: { type: 'array', items: check } },
      },
      SystemError: { type: 'object', required: ['message'], properties: { message: { type: 'string' } } },
    },
  };
}
