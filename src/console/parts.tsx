// What several pages are made of: the frame of a page, and what stands there while there is nothing to show.

import { Alert, Anchor, Button, Group, Loader, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import type { TriedView } from '../admin/configuration-model.ts';
import { type Tone, timeText } from './words.ts';

/** For the heading of a page: names the window, and moves the focus to it, so that a screen reader says where the viewer is. */
export function useHeading(title: string) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Rollcall`;
    heading.current?.focus();
  }, [title]);
  return heading;
}

interface PageProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, actions, children }: PageProps) {
  const heading = useHeading(title);
  return (
    <main className="page">
      <Group justify="space-between" className="page-head">
        <Title order={1} ref={heading} tabIndex={-1}>
          {title}
        </Title>
        {actions === undefined ? null : <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </main>
  );
}

interface SectionProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Section({ title, actions, children }: SectionProps) {
  return (
    <section className="section" aria-label={title}>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h3">
          {title}
        </Title>
        {actions}
      </Group>
      {children}
    </section>
  );
}

export function Failure({ error, retry }: { readonly error: Error; readonly retry?: () => void }) {
  return (
    <Alert color="red" role="alert" title="That did not work">
      <Text>{error.message}</Text>
      {retry === undefined ? null : (
        <Button mt="sm" variant="default" onClick={retry}>
          Try again
        </Button>
      )}
    </Alert>
  );
}

interface LoadedProps<T> {
  readonly of: UseQueryResult<T>;
  readonly children: (value: T) => ReactNode;
}

/** What was asked for, or that it is on its way, or why it cannot be had. */
export function Loaded<T>({ of, children }: LoadedProps<T>) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error !== null) return <Failure error={of.error} retry={() => void of.refetch()} />;
  return (
    <output className="loading">
      <Loader size="sm" /> Loading …
    </output>
  );
}

/** What came of trying a pattern; `success` where it fits. */
export function Tried({ of, success }: { readonly of: TriedView; readonly success: string }) {
  return (
    <Alert color={of.matches ? 'green' : 'red'} role="status">
      {of.message ?? success}
    </Alert>
  );
}

export function Empty({ children }: { readonly children: ReactNode }) {
  return <p className="empty">{children}</p>;
}

export function Time({ at }: { readonly at: string | null | undefined }) {
  return at ? <time dateTime={at}>{timeText(at)}</time> : <>–</>;
}

export function State({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return <span className={`state state-${tone}`}>{children}</span>;
}

export function Facts({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export interface Column<R> {
  readonly name: string;
  readonly of: (row: R) => ReactNode;
  readonly isNumber?: boolean;
}

interface RowsProps<R> {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string | number;
  /** What stands there when there are no rows: what to do next. */
  readonly empty: ReactNode;
}

/** The roles are said because on a narrow screen rows are shown as cards, which takes the table's own away. */
export function Rows<R>({ label, columns, rows, keyOf, empty }: RowsProps<R>) {
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  return (
    // biome-ignore lint/a11y/noRedundantRoles: cards on a narrow screen, see above
    <table role="table" aria-label={label} className="rows">
      <thead>
        <tr>
          {columns.map(({ name, isNumber }) => (
            <th key={name} scope="col" className={isNumber ? 'number' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ name, of, isNumber }) => (
              <td key={name} data-label={name} className={isNumber ? 'number' : undefined}>
                {of(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Link({ to, children }: { readonly to: string; readonly children: ReactNode }) {
  return (
    <Anchor href={to} underline="always">
      {children}
    </Anchor>
  );
}
