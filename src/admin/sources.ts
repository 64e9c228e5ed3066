import { Elysia } from 'elysia';
import type { Operator } from '../security/audit.ts';
import type { Source } from '../sources/source-store.ts';
import type { Sources } from '../sources/sources.ts';
import { answer } from './answer.ts';
import { emptyRequest } from './model.ts';
import { describe, shows } from './openapi.ts';
import {
  type CreatedSourceView,
  changeSourceRequest,
  newSourceRequest,
  newTokenRequest,
  type ShownTokenView,
  type SourceDetailView,
  type SourceView,
  sourceParams,
} from './source-model.ts';

/** Path of a source's endpoint on this service, as the outside system is told it. */
export type ApiUrlSuffix = (source: Source) => string;

export interface SourcesParts {
  readonly sources: Sources;
  readonly apiUrlSuffix: ApiUrlSuffix;
  /** Scheme and host under which the outside system reaches the service, for the request that asks. */
  readonly baseUrlOf: (request: Request) => string;
  readonly operatorOf: (request: Request) => Operator;
}

const params = sourceParams;
const oneSource = shows('Source', 'The source, with its settings and what is known of its tokens.');

/** Profile sources: who may bring data, with which token, under which settings. */
export function sources(parts: SourcesParts) {
  const { sources, operatorOf } = parts;
  return new Elysia({ name: 'admin.sources' })
    .get(
      '/sources',
      async ({ request }) => {
        const listed = await sources.list();
        return answer({ sources: listed.map((source) => toView(parts, request, source)) });
      },
      {
        detail: describe({
          id: 'listSources',
          summary: 'List the sources',
          answers: { 200: shows('SourceList', 'All sources, without their tokens.') },
        }),
      },
    )
    .post(
      '/sources',
      async ({ request, body: { kind, name, settings = {} } }) => {
        const by = operatorOf(request);
        const created = await sources.create(kind, name, { settings: asTexts(settings), by });
        const source = await toDetail(parts, request, created.source);
        return answer({ source, token: created.token } satisfies CreatedSourceView, { status: 201 });
      },
      {
        body: newSourceRequest,
        detail: describe({
          id: 'createSource',
          summary: 'Make an active source with its first token',
          body: 'NewSourceRequest',
          answers: { 201: shows('CreatedSource', 'The source, and its token.') },
          kinds: ['uniqueness', 'storageFull'],
        }),
      },
    )
    .get(
      '/sources/:source',
      async ({ request, params: { source } }) =>
        answer(await toDetail(parts, request, await sources.get(source))),
      {
        params,
        detail: describe({
          id: 'getSource',
          summary: 'Show a source',
          params,
          answers: { 200: oneSource },
          kinds: ['notFound'],
        }),
      },
    )
    .patch(
      '/sources/:source',
      async ({ request, params: { source }, body: { name, active, settings } }) => {
        const change = { name, active, settings: settings && asTexts(settings) };
        return answer(
          await toDetail(parts, request, await sources.change(source, change, operatorOf(request))),
        );
      },
      {
        params,
        body: changeSourceRequest,
        detail: describe({
          id: 'changeSource',
          summary: 'Change name, state and settings of a source together; what is absent stays',
          params,
          body: 'ChangeSourceRequest',
          answers: { 200: oneSource },
          kinds: ['notFound', 'uniqueness', 'storageFull'],
        }),
      },
    )
    .use(tokens(parts));
}

function tokens({ sources, operatorOf }: SourcesParts) {
  return new Elysia({ name: 'admin.sources.tokens' })
    .post(
      '/sources/:source/tokens',
      async ({ request, params: { source }, body: { overlapDays } }) => {
        const found = await sources.get(source);
        const token = await sources.rotateToken(found, overlapDays, operatorOf(request));
        return answer({ token } satisfies ShownTokenView, { status: 201 });
      },
      {
        params,
        body: newTokenRequest,
        detail: describe({
          id: 'issueToken',
          summary: 'Issue another token; the former ones end after the overlap',
          params,
          body: 'NewTokenRequest',
          answers: { 201: shows('ShownToken', 'The new token.') },
          kinds: ['notFound', 'storageFull'],
        }),
      },
    )
    .post(
      '/sources/:source/tokens/reveal',
      async ({ request, params: { source } }) => {
        const token = await sources.revealToken(await sources.get(source), operatorOf(request));
        return answer({ token } satisfies ShownTokenView);
      },
      {
        params,
        body: emptyRequest,
        detail: describe({
          id: 'revealToken',
          summary: 'Show the newest token again; the audit log tells who has looked',
          params,
          body: 'EmptyRequest',
          answers: { 200: shows('ShownToken', 'The token.') },
          kinds: ['notFound', 'storageFull'],
        }),
      },
    );
}

function toView({ apiUrlSuffix, baseUrlOf }: SourcesParts, request: Request, source: Source): SourceView {
  const { id, name, kind, active, created } = source;
  const suffix = apiUrlSuffix(source);
  return { id, name, kind, active, created, apiUrlSuffix: suffix, url: `${baseUrlOf(request)}${suffix}` };
}

async function toDetail(parts: SourcesParts, request: Request, source: Source): Promise<SourceDetailView> {
  const tokens = await parts.sources.listTokens(source);
  return { ...toView(parts, request, source), settings: { ...source.settings }, tokens };
}

function asTexts(settings: Readonly<Record<string, string | number | boolean>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
}
