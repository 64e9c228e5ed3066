// The published description of the HTTP interface, made from the routes that the surfaces have.
// It never describes a route by itself: each carries its own description, and one without is an error.
// Renders OpenAPI 3.1 with JSON Schema draft 2020-12.

import { adminComponents } from './admin/openapi.ts';
import { type AppParts, buildSurfaces } from './app.ts';
import { HttpMetrics } from './http/metrics.ts';
import type { Components, Operation } from './http/operation.ts';
import type { Route } from './http/surface.ts';
import { systemComponents } from './http/system-operations.ts';
import { scimComponents } from './scim/openapi.ts';
import { uploadComponents } from './upload/openapi.ts';

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: object;
  readonly servers: readonly object[];
  readonly tags: readonly object[];
  /** By path and by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Components;
}

/** The document of this release. It needs no database and no data folder. */
export function openApiDocument(version: string): OpenApiDocument {
  const surfaces = buildSurfaces(unusedParts(version), new HttpMetrics(version));
  return plain({
    openapi: '3.1.0',
    info: {
      title: 'Rollcall',
      version,
      description,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that the document comes from.' }],
    tags,
    paths: pathsOf(surfaces.flatMap(({ routes }) => routes)),
    components: allComponents(),
  });
}

const description = [
  'Identity provisioning: SCIM 2.0 and profile documents into one directory.',
  'Every answer has the header X-Request-Id, which is also in the log of the service.',
  'A path answers 405 with the header Allow to a method that it does not have, and any other path answers 404;',
  'a path that is not in its plain form answers 400.',
].join(' ');

const tags = [
  { name: 'Users', description: 'People (RFC 7644 §3).' },
  { name: 'Groups', description: 'Companies, departments, locations and security groups (RFC 7644 §3).' },
  { name: 'Bulk', description: 'Many operations in one request (RFC 7644 §3.7).' },
  { name: 'Search', description: 'Users and groups as one list (RFC 7644 §3.4.2.1, §3.4.3).' },
  { name: 'Discovery', description: 'What the SCIM service can do (RFC 7644 §4).' },
  { name: 'Upload', description: 'Profile documents of general sources.' },
  { name: 'Administration', description: 'What the console works with.' },
  { name: 'Console', description: "The console's page." },
  { name: 'System', description: 'What belongs to the service itself.' },
];

/** A route for every method only refuses: it has no entry. */
function pathsOf(routes: readonly Route[]): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const { method, path, operation } of routes.filter((route) => route.method !== 'ALL')) {
    if (operation === undefined) throw new Error(`the route ${method} ${path} has no description`);
    const template = path.replaceAll(/:(\w+)/g, '{$1}');
    paths[template] = { ...paths[template], [method.toLowerCase()]: operation };
  }
  return paths;
}

function allComponents(): Components {
  const all = [scimComponents(), uploadComponents(), adminComponents(), systemComponents()];
  return {
    schemas: Object.assign({}, ...all.map(({ schemas }) => schemas)),
    parameters: Object.assign({}, ...all.map(({ parameters }) => parameters)),
    securitySchemes: Object.assign({}, ...all.map(({ securitySchemes }) => securitySchemes)),
  };
}

/** As it will be read: shapes written in TypeBox bear marks of their own, which JSON does not have. */
function plain(document: OpenApiDocument): OpenApiDocument {
  return JSON.parse(JSON.stringify(document)) as OpenApiDocument;
}

function unusedParts(version: string): AppParts {
  return {
    database: unused(),
    sources: unused(),
    configurations: unused(),
    secretBox: unused(),
    intake: unused(),
    documents: unused(),
    runs: unused(),
    requests: unused(),
    clock: () => new Date(0),
    log: unused(),
    hosts: { publicUrl: undefined, allowedHosts: [], trustedProxies: [] },
    metricsFrom: [],
    version,
    createRequestId: () => '',
    processor: { isRunning: false, restarts: 0 },
  };
}

/** Stands for a service whose surface is only looked at. Asking anything of it is a defect, and shows at once. */
function unused<Part extends object>(): Part {
  const get = (): never => {
    throw new Error('a surface asked something of a service before any request');
  };
  return new Proxy({}, { get }) as Part;
}
