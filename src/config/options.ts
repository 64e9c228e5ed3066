import { isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import type { LogLevel } from '../log.ts';

/** Everything that is set from outside the database, checked. */
export interface Config {
  /** Absolute path of the data folder. */
  readonly data: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Where clients reach the service, without a slash at the end. */
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[];
  /** Addresses and subnets (CIDR). */
  readonly trustedProxies: readonly string[];
  /** Addresses and subnets that may read /metrics, besides the machine itself. */
  readonly metricsFrom: readonly string[];
  /** Absolute paths; both or neither. */
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  /** Address of a PostgreSQL database, with its password; undefined for SQLite in the data folder. */
  readonly database: string | undefined;
  readonly logLevel: LogLevel;
}

export type OptionName = keyof Config;

/** One setting, from which its flag, its variable, its key in the file, its help and its errors follow. */
export interface Option<T> {
  /** What the help shows for the value. */
  readonly placeholder: string;
  readonly summary: string;
  readonly default: T;
  /** What the help shows as the default; absent where there is none. */
  readonly defaultText?: string;
  /** What the value may be, in words, for an error. */
  readonly takes: string;
  /** The value that `text` stands for, or undefined when it stands for none. `folder`: of relative paths. */
  readonly read: (text: string, folder: string) => T | undefined;
  /** Whether an error must not repeat the value. */
  readonly isSecret?: boolean;
}

const path = (text: string, folder: string) =>
  text === '' ? undefined : isAbsolute(text) ? text : resolve(folder, text);
const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const listItemsMax = 100;

export const options: { readonly [N in OptionName]: Option<Config[N]> } = {
  data: {
    placeholder: 'DIR',
    summary: 'data folder',
    default: './data',
    defaultText: './data',
    takes: 'the path of a folder',
    read: path,
  },
  host: {
    placeholder: 'HOST',
    summary: 'address to listen on',
    default: '127.0.0.1',
    defaultText: '127.0.0.1',
    takes: 'a host name or an IP address',
    read: hostName,
  },
  port: {
    placeholder: 'N',
    summary: 'port to listen on; 0 for any that is free',
    default: 8080,
    defaultText: '8080',
    takes: 'a whole number from 0 to 65535',
    read: (text) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
  },
  publicUrl: {
    placeholder: 'URL',
    summary: 'address under which clients reach the service',
    default: undefined,
    takes: 'an http or https address without user, query or fragment',
    read: publicUrl,
  },
  allowedHosts: {
    placeholder: 'LIST',
    summary: 'further host names to answer under, separated by commas',
    default: [],
    takes: 'host names or IP addresses, separated by commas, without ports',
    read: (text) => list(text, (item) => hostName(item) !== undefined),
  },
  trustedProxies: {
    placeholder: 'LIST',
    summary: 'proxies whose X-Forwarded headers count: addresses or subnets, separated by commas',
    default: [],
    takes: 'IP addresses or subnets such as 10.0.0.0/8, separated by commas',
    read: (text) => list(text, isAddressOrSubnet),
  },
  metricsFrom: {
    placeholder: 'LIST',
    summary: 'who may read /metrics besides this machine: addresses or subnets, separated by commas',
    default: [],
    takes: 'IP addresses or subnets such as 10.0.0.0/8, separated by commas',
    read: (text) => list(text, isAddressOrSubnet),
  },
  tlsCert: {
    placeholder: 'FILE',
    summary: 'certificate chain (PEM) to serve HTTPS with',
    default: undefined,
    takes: 'the path of a file',
    read: path,
  },
  tlsKey: {
    placeholder: 'FILE',
    summary: 'private key (PEM) of the certificate',
    default: undefined,
    takes: 'the path of a file',
    read: path,
  },
  database: {
    placeholder: 'URL',
    summary: 'PostgreSQL database (postgres://…) instead of SQLite in the data folder',
    default: undefined,
    takes: 'an address such as postgres://user:password@host:5432/name',
    read: postgresUrl,
    isSecret: true,
  },
  logLevel: {
    placeholder: 'LEVEL',
    summary: `least level to log: ${logLevels.join(', ')}`,
    default: 'info',
    defaultText: 'info',
    takes: `one of ${logLevels.join(', ')}`,
    read: (text) => logLevels.find((level) => level === text),
  },
};

export const optionNames = Object.keys(options) as readonly OptionName[];

/** `--public-url` for `publicUrl`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** `ROLLCALL_PUBLIC_URL` for `publicUrl`. */
export function variableOf(name: string): string {
  return `ROLLCALL_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

function hostName(text: string): string | undefined {
  if (isIP(text) !== 0) return text;
  const isName =
    text.length <= 253 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(text);
  // Four numbers with dots are a mistyped address, not a name.
  return isName && !/^[\d.]+$/.test(text) ? text : undefined;
}

function publicUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined;
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text)) return undefined;
  return url.href.replace(/\/+$/, '');
}

function postgresUrl(text: string): string | undefined {
  const url = URL.parse(text);
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) ? text : undefined;
}

function list(text: string, isItem: (item: string) => boolean): string[] | undefined {
  const items = text.split(',').map((item) => item.trim());
  const given = items.filter((item) => item !== '');
  return given.length <= listItemsMax && given.every(isItem) ? given : undefined;
}

function isAddressOrSubnet(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  if (bits < 0 || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}
