import { readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { LoadedConfig } from '../config/config.ts';
import type { Config } from '../config/options.ts';
import { type DataFolder, dataFolder } from './data-folder.ts';

/**
 * Where clients reach the service, without a slash at the end: the public URL, else host and port as they are set,
 * else the address under which the service was last started on this folder.
 */
export function baseUrl({ config, isSet }: LoadedConfig): string {
  if (config.publicUrl !== undefined) return config.publicUrl;
  const served =
    isSet.has('host') || isSet.has('port') ? undefined : readServedAddress(dataFolder(config.data));
  return served ?? listenUrl(config, config.port);
}

/** The address of a listener on `port`. */
export function listenUrl({ host, tlsCert }: Config, port: number): string {
  const scheme = tlsCert === undefined ? 'http' : 'https';
  const name = host === '0.0.0.0' || host === '::' ? hostname() : host;
  return `${scheme}://${isIP(name) === 6 ? `[${name}]` : name}:${port}`;
}

/** For the process that serves: lets the commands beside it print the right addresses. */
export function writeServedAddress({ servedAddress }: DataFolder, url: string): void {
  writeFileSync(servedAddress, `${url}\n`, { mode: 0o600 });
}

function readServedAddress({ servedAddress }: DataFolder): string | undefined {
  try {
    const text = readFileSync(servedAddress, 'utf8').trim();
    return URL.canParse(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
