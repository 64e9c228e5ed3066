// Connectors owns how people come from a source that has to be asked: which kinds there are, how each is configured, and a
// run of one in a process of its own, whose XML is taken in as an upload would be. It never sees the directory, and trusts
// nothing that a connector says. docs/connectors.md tells authors and administrators, docs/adr/0017 why it is so.

import type { Json } from './contract.ts';

/** JSON Schema (2020-12) of an object. */
export type ConfigSchema = Readonly<Record<string, unknown>>;
export type Config = Readonly<Record<string, unknown>>;

/** A kind of connector, as lists show it and as it is started. */
export interface ConnectorKind {
  readonly kind: string;
  readonly summary: string;
  readonly configSchema: ConfigSchema;
  readonly canDelta: boolean;
  readonly form: ConnectorForm;
}

export type ConnectorForm =
  | { readonly form: 'shipped' }
  /** A file that exports `connector`. */
  | { readonly form: 'typescript'; readonly folder: string; readonly file: string }
  | { readonly form: 'executable'; readonly folder: string; readonly command: readonly string[] };

/** A folder that holds no connector that could be used, and why. */
export interface BrokenConnector {
  /** Its name in `connectors/` of the data folder. */
  readonly name: string;
  readonly problem: string;
}

export const connectorActions = ['test', 'read'] as const;
export type ConnectorAction = (typeof connectorActions)[number];

/** The JSON object that a connector's process reads from standard input. */
export interface ConnectorRequest {
  /** `test`: reach the source, and say in one line what was found. `read`: write the document. */
  readonly action: ConnectorAction;
  readonly config: Config;
  readonly source: { readonly name: string; readonly id: number };
  readonly mode: 'full' | 'delta';
  /** Null when there is none. */
  readonly checkpoint: Json;
}

/** What a host is asked, the process that runs connectors in TypeScript. */
export type HostRequest =
  | { readonly action: 'describe'; readonly file: string }
  | (ConnectorRequest & {
      readonly connector: { readonly kind: string } | { readonly file: string };
      readonly allowedHosts: readonly string[];
      /** Show the first so many groups and users instead of writing a document. */
      readonly preview?: number;
    });

/** One record on its way into a document. Executables tell only the last of the three. */
export interface PreviewRecord {
  /** What the source gave, when the connector maps records of its source. */
  readonly source: Json;
  readonly record: Json;
  readonly xml: string;
}

/** Bounds of one run. Those of time and memory are settings. */
export interface RunLimits {
  readonly milliseconds: number;
  /** Resident memory of the connector's processes together. */
  readonly memoryBytes: number;
}

export const testMsMax = 60_000;
export const describeMsMax = 10_000;
export const checkpointBytesMax = 1024 * 1024;
export const checkpointFile = 'checkpoint.json';
export const previewMax = 100;

/** Kinds are named as file names are. */
export const kindForm = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
export const kindLengthMax = 64;
