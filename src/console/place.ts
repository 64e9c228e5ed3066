import { useSyncExternalStore } from 'react';

/** Where in the console the viewer is: it stands in the address, so that it can be kept and sent to somebody. */
export interface Place {
  /** `['imports', '3']` for `#/imports/3`. */
  readonly path: readonly string[];
  readonly params: URLSearchParams;
}

/** The place for the component that asks, which is drawn again when it changes. */
export function usePlace(): Place {
  return toPlace(useSyncExternalStore(subscribe, () => location.hash));
}

function subscribe(onChange: () => void): () => void {
  addEventListener('hashchange', onChange);
  return () => removeEventListener('hashchange', onChange);
}

function toPlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return {
    path: path.split('/').filter(Boolean).map(decodeURIComponent),
    params: new URLSearchParams(query),
  };
}

type Params = Readonly<Record<string, string | number | undefined>>;

/** The address of a place; parameters that are empty are left out. */
export function href(path: string, params: Params = {}): string {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#/${path}${query === '' ? '' : `?${query}`}`;
}

export function go(path: string, params: Params = {}): void {
  location.hash = href(path, params);
}

/** Changes parameters of the present place, without a step in the history of the browser. */
export function setParams(change: Params): void {
  const { path, params } = toPlace(location.hash);
  const next = { ...Object.fromEntries(params), ...change };
  history.replaceState(null, '', href(path.map(encodeURIComponent).join('/'), next));
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** The token of an invitation leaves the address, and so the history, before anything else happens. */
export function takeInvitation(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('invite');
  if (token === null) return undefined;
  history.replaceState(null, '', location.pathname);
  return token;
}
