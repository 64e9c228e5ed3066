import { Elysia } from 'elysia';
import { readScimBody } from './body.ts';
import type { OpenCall } from './call.ts';
import type { AnswerList, ListAnswers } from './list-answer.ts';
import { parametersOfQuery, parametersOfSearch } from './list-parameters.ts';
import { listAllOperation, searchOperations } from './operations.ts';

const raw = { parse: 'none' } as const;

/** Searches by POST, which keep filters out of addresses and logs (RFC 7644 §3.4.3), and the list of everything (§3.4.2.1). */
export function search(open: OpenCall, lists: ListAnswers) {
  const answer = (answerList: AnswerList) => {
    return async ({ request }: { readonly request: Request }) => {
      const call = await open(request);
      const body = await readScimBody(request, call);
      return answerList(request, call, parametersOfSearch(call, body));
    };
  };
  return new Elysia({ name: 'scim.search' })
    .get(
      '',
      async ({ request }) => {
        const call = await open(request);
        return lists.all(request, call, parametersOfQuery(call.query));
      },
      { detail: listAllOperation },
    )
    .post('/.search', answer(lists.all), { ...raw, detail: searchOperations.all })
    .post('/Users/.search', answer(lists.users), { ...raw, detail: searchOperations.users })
    .post('/Groups/.search', answer(lists.groups), { ...raw, detail: searchOperations.groups });
}
