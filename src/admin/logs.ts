import { Elysia } from 'elysia';
import type { RequestPages } from '../requests/request-pages.ts';
import type { LoggedRequest, RequestQuery } from '../requests/request-reader.ts';
import { toId } from '../resource/resource-id.ts';
import type { AuditPage, AuditQuery } from '../security/audit.ts';
import { answer } from './answer.ts';
import { describe, shows } from './openapi.ts';
import {
  type AuditView,
  olderQuery,
  type RequestListView,
  type RequestView,
  requestsQuery,
} from './people-model.ts';

export interface LogsParts {
  readonly requestLog: RequestPages;
  readonly listAudit: (query: AuditQuery) => Promise<AuditPage>;
}

const limitDefault = 50;

/** What was asked of the service, and what its administrators have changed. */
export function logs({ requestLog, listAudit }: LogsParts) {
  return new Elysia({ name: 'admin.logs' })
    .get(
      '/requests',
      ({ query: { before, after, limit = limitDefault, ...asked } }) => {
        const query = toRequestQuery(asked);
        if (after !== undefined) {
          const requests = requestLog.later(query, after).slice(0, limit).map(toRequestView);
          return answer({ requests, next: null } satisfies RequestListView);
        }
        const page = requestLog.page(query, before === undefined ? { limit } : { before, limit });
        const requests = page.requests.map(toRequestView);
        return answer({ requests, next: page.next ?? null } satisfies RequestListView);
      },
      {
        query: requestsQuery,
        detail: describe({
          id: 'listRequests',
          summary: 'List SCIM requests',
          query: requestsQuery,
          answers: { 200: shows('RequestList', 'The requests, with what was mended in them.') },
        }),
      },
    )
    .get(
      '/audit',
      async ({ query: { before, limit = limitDefault } }) => {
        const { entries, next } = await listAudit({ before, limit });
        return answer({ entries: entries.map(toEntry), next: next ?? null } satisfies AuditView);
      },
      {
        query: olderQuery,
        detail: describe({
          id: 'listAudit',
          summary: 'List what administrators have changed or looked at',
          query: olderQuery,
          answers: { 200: shows('AuditLog', 'The entries, newest first.') },
        }),
      },
    );
}

interface AskedRequests {
  readonly source?: string | undefined;
  readonly status?: '2' | '4' | '5' | undefined;
  readonly hasRepairs?: boolean | undefined;
}

function toRequestQuery({ source, status, hasRepairs }: AskedRequests): RequestQuery {
  const hundred = Number(status) * 100;
  return {
    ...(source === undefined ? {} : { sourceId: toId(source) }),
    ...(status === undefined ? {} : { status: [hundred, hundred + 99] as const }),
    ...(hasRepairs === undefined ? {} : { hasRepairs }),
  };
}

function toRequestView(request: LoggedRequest): RequestView {
  const { id, time, durationMs, sourceId, method, path, query, status } = request;
  const { clientAddress, requestId, refusal, repairs, body } = request;
  const shown = { id, time, durationMs, sourceId, method, path, query, status, clientAddress };
  return { ...shown, requestId, refusal, repairs: repairs.map((each) => ({ ...each })), body };
}

function toEntry({ by, subject, before, after, ...entry }: AuditPage['entries'][number]) {
  return {
    ...entry,
    by: { ...by },
    subject: { ...subject },
    ...(before === undefined ? {} : { before: { ...before } }),
    ...(after === undefined ? {} : { after: { ...after } }),
  };
}
