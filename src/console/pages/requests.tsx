import { Button, Checkbox, Code, Group, NativeSelect } from '@mantine/core';
import { Fragment, useState } from 'react';
import type { RequestListView, RequestView } from '../../admin/people-model.ts';
import { queryOf, useLook } from '../api.ts';
import { Empty, Loaded, Page, Section, State, Time } from '../parts.tsx';
import { setParams, usePlace } from '../place.ts';
import { statusTone } from '../words.ts';
import { useSourceNames } from './imports.tsx';

const liveMs = 2_000;
const pageRows = 50;

interface RequestRowsProps {
  readonly source: string;
  readonly status?: string;
  readonly before?: number | undefined;
  readonly limit: number;
  readonly every: number | false;
  readonly onNext?: (before: number) => void;
}

/** Requests, newest first. Each opens to show what was mended in it and, where it was kept, its body. */
export function RequestRows({ source, status = '', before, limit, every, onNext }: RequestRowsProps) {
  const [openId, setOpenId] = useState<number>();
  const path = `/requests${queryOf({ source, status, before, limit })}`;
  const listed = useLook<RequestListView>(path, { every });
  return (
    <Loaded of={listed}>
      {({ requests, next }) => (
        <>
          {requests.length === 0 ? (
            <Empty>
              Nothing has been asked yet. Give the provider base URL and key, and let it test the connection.
            </Empty>
          ) : (
            <table className="rows" aria-label="Requests">
              <thead>
                <tr>
                  {['Time', 'Request', 'Status', 'Took', 'From', ''].map((name) => (
                    <th key={name} scope="col">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {requests.map((request) => (
                  <Fragment key={request.id}>
                    <RequestRow
                      request={request}
                      isOpen={openId === request.id}
                      onToggle={() => setOpenId(openId === request.id ? undefined : request.id)}
                    />
                  </Fragment>
                ))}
              </tbody>
            </table>
          )}
          {onNext === undefined || next === null ? null : (
            <Button mt="md" variant="default" onClick={() => onNext(next)}>
              Older
            </Button>
          )}
        </>
      )}
    </Loaded>
  );
}

interface RequestRowProps {
  readonly request: RequestView;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function RequestRow({ request, isOpen, onToggle }: RequestRowProps) {
  const { time, method, path, query, status, durationMs, clientAddress, refusal, repairs } = request;
  return (
    <>
      <tr>
        <td data-label="Time">
          <Time at={time} />
        </td>
        <td data-label="Request">
          <Code>
            {method} {path}
            {query === null || query === '' ? '' : `?${query}`}
          </Code>
          {refusal === null ? null : <p className="hint">{refusal}</p>}
        </td>
        <td data-label="Status">
          <State tone={statusTone(status)}>{status}</State>
        </td>
        <td data-label="Took" className="number">
          {durationMs.toFixed(1)} ms
        </td>
        <td data-label="From">{clientAddress}</td>
        <td data-label="Details">
          <Button size="xs" variant="default" aria-expanded={isOpen} onClick={onToggle}>
            {repairs.length === 0 ? 'Details' : `Details, ${repairs.length} mended`}
          </Button>
        </td>
      </tr>
      {isOpen ? (
        <tr>
          <td colSpan={6}>
            <RequestDetails request={request} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

function RequestDetails({ request: { requestId, repairs, body } }: { readonly request: RequestView }) {
  return (
    <>
      <p>
        Request id <Code>{requestId}</Code>
      </p>
      {repairs.map(({ code, attribute, from, to }) => (
        <p key={`${code} ${attribute} ${from}`}>
          Mended: <Code>{code}</Code> at {attribute}
          {from === undefined ? '' : `, ${from} became ${to ?? 'nothing'}`}
        </p>
      ))}
      {body === null ? (
        <p className="hint">No body is kept. “Log Request Body in SCIM Service” of the source keeps them.</p>
      ) : (
        <pre className="text">{body}</pre>
      )}
    </>
  );
}

export function RequestsPage() {
  const { params } = usePlace();
  const names = useSourceNames();
  const [isLive, setLive] = useState(true);
  const source = params.get('source') ?? '';
  const status = params.get('status') ?? '';
  const before = Number(params.get('before') ?? 0) || undefined;
  const sources = [...names].map(([id, name]) => ({ value: String(id), label: name }));
  return (
    <Page title="Request log">
      <Group mb="md" align="flex-end">
        <NativeSelect
          label="Source"
          data={[{ value: '', label: 'All sources' }, ...sources]}
          value={source}
          onChange={({ currentTarget }) => setParams({ source: currentTarget.value, before: undefined })}
        />
        <NativeSelect
          label="Answered with"
          data={[
            { value: '', label: 'Anything' },
            { value: '2', label: 'Success' },
            { value: '4', label: 'Refusals (4xx)' },
            { value: '5', label: 'Faults (5xx)' },
          ]}
          value={status}
          onChange={({ currentTarget }) => setParams({ status: currentTarget.value, before: undefined })}
        />
        <Checkbox
          label="Live"
          checked={isLive && before === undefined}
          disabled={before !== undefined}
          onChange={({ currentTarget }) => setLive(currentTarget.checked)}
        />
        {before === undefined ? null : (
          <Button variant="default" onClick={() => setParams({ before: undefined })}>
            Newest
          </Button>
        )}
      </Group>
      <Section title="Requests">
        <RequestRows
          {...{ source, status, before }}
          limit={pageRows}
          every={isLive && before === undefined ? liveMs : false}
          onNext={(next) => setParams({ before: next })}
        />
      </Section>
    </Page>
  );
}
