import { createHash } from 'node:crypto';
import { type Catalog, groupOf } from '../resources/catalog.ts';
import type { Endpoint } from '../resources/resource.ts';
import { type Answer, jsonAnswer } from './call.ts';

/** What tells clients which resources there are, in both forms; made once for every state of the catalog. */
export class Discovery {
  readonly #catalog: Catalog;
  #generation = -1;
  #groups: readonly Group[] = [];
  readonly #aggregated = new Map<'core' | 'named', { body: Buffer; etag: string }>();

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** `/api` and `/apis` as one document each, which newer clients cache by its ETag. */
  aggregated(which: 'core' | 'named', contentType: string, ifNoneMatch: string | undefined): Answer {
    this.#refresh();
    let document = this.#aggregated.get(which);
    if (document === undefined) {
      const groups = this.#groups.filter(({ name }) => (name === '') === (which === 'core'));
      const body = Buffer.from(JSON.stringify(aggregatedDocument(groups)));
      document = { body, etag: `"${createHash('sha256').update(body).digest('hex').toUpperCase()}"` };
      this.#aggregated.set(which, document);
    }
    const { body, etag } = document;
    const headers = { ETag: etag, Vary: 'Accept', 'Cache-Control': 'public' };
    if (ifNoneMatch === etag) return { code: 304, contentType, chunks: [], headers };
    return { code: 200, contentType, chunks: [body], headers };
  }

  coreVersions(): Answer {
    return jsonAnswer(200, { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }, VARY);
  }

  groupList(): Answer {
    this.#refresh();
    const groups = this.#groups.filter(({ name }) => name !== '').map(plainGroup);
    return jsonAnswer(200, { kind: 'APIGroupList', apiVersion: 'v1', groups }, VARY);
  }

  group(name: string): Answer | undefined {
    this.#refresh();
    const group = this.#groups.find((each) => each.name === name && name !== '');
    return group === undefined
      ? undefined
      : jsonAnswer(200, { kind: 'APIGroup', apiVersion: 'v1', ...plainGroup(group) }, VARY);
  }

  resourceList(group: string, version: string): Answer | undefined {
    this.#refresh();
    const endpoints = this.#groups.find((each) => each.name === group)?.versions.get(version);
    if (endpoints === undefined) return undefined;
    const groupVersion = group === '' ? version : `${group}/${version}`;
    const resources = endpoints.flatMap(plainResources);
    return jsonAnswer(200, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources }, VARY);
  }

  /** Every `group/version` (or `v1`) that is served. */
  groupVersions(): { group: string; version: string }[] {
    this.#refresh();
    return this.#groups.flatMap(({ name, versions }) =>
      [...versions.keys()].map((version) => ({ group: name, version })),
    );
  }

  #refresh(): void {
    if (this.#generation === this.#catalog.generation) return;
    this.#generation = this.#catalog.generation;
    this.#groups = groupsOf(this.#catalog);
    this.#aggregated.clear();
  }
}

const VARY = { Vary: 'Accept' };

interface Group {
  readonly name: string;
  /** In the order of preference. */
  readonly versions: Map<string, Endpoint[]>;
}

function groupsOf(catalog: Catalog): Group[] {
  const groups = new Map<string, Group>();
  for (const endpoint of catalog.resources.flatMap((resource) => resource.endpoints)) {
    const name = groupOf(endpoint.apiVersion);
    const group = groups.get(name) ?? { name, versions: new Map<string, Endpoint[]>() };
    groups.set(name, group);
    const endpoints = group.versions.get(endpoint.version) ?? [];
    group.versions.set(endpoint.version, endpoints);
    endpoints.push(endpoint);
  }
  for (const group of groups.values()) {
    const sorted = [...group.versions].sort(([a], [b]) => comparePreference(a, b));
    group.versions.clear();
    for (const [version, endpoints] of sorted) group.versions.set(version, endpoints);
  }
  return [...groups.values()];
}

/** Stable before beta before alpha, newer before older, anything else last: Kubernetes' order of version names. */
export function comparePreference(a: string, b: string): number {
  const rank = (version: string): number[] => {
    const parts = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
    if (parts === null) return [0, 0, 0];
    return [parts[2] === undefined ? 3 : parts[2] === 'beta' ? 2 : 1, Number(parts[1]), Number(parts[3] ?? 0)];
  };
  const [left, right] = [rank(a), rank(b)];
  for (const [i, value] of left.entries()) {
    const other = right[i] ?? 0;
    if (value !== other) return other - value;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

const aggregatedDocument = (groups: readonly Group[]) => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items: groups.map(({ name, versions }) => ({
    metadata: { name, creationTimestamp: null },
    versions: [...versions].map(([version, endpoints]) => ({
      version,
      freshness: 'Current',
      resources: endpoints.map(aggregatedResource),
    })),
  })),
});

function aggregatedResource(endpoint: Endpoint) {
  const { resource, subresources } = endpoint;
  const responseKind = { group: groupOf(endpoint.apiVersion), version: endpoint.version, kind: resource.kind };
  return {
    resource: resource.plural,
    responseKind,
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: endpoint.verbs,
    ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
    ...(subresources.length > 0
      ? {
          subresources: subresources.map((subresource) => ({
            subresource: subresource.name,
            responseKind: subresource.responseKind,
            verbs: subresource.verbs,
          })),
        }
      : {}),
  };
}

function plainGroup({ name, versions }: Group) {
  const all = [...versions.keys()].map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: all, preferredVersion: all[0] };
}

function plainResources(endpoint: Endpoint) {
  const { resource, subresources } = endpoint;
  const storageVersionHash = createHash('sha256')
    .update(`${resource.group}/${resource.storageVersion}/${resource.kind}`)
    .digest('base64')
    .slice(0, 12);
  return [
    {
      name: resource.plural,
      singularName: resource.singular,
      namespaced: resource.namespaced,
      kind: resource.kind,
      verbs: endpoint.verbs,
      ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
      ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
      storageVersionHash,
    },
    ...subresources.map((subresource) => ({
      name: `${resource.plural}/${subresource.name}`,
      singularName: '',
      namespaced: resource.namespaced,
      ...subresource.responseKind,
      verbs: subresource.verbs,
    })),
  ];
}
