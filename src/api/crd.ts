import type { DeclaredKind } from './kind.ts';

/** The CustomResourceDefinition that makes any Kubernetes API server serve a kind of ours. */
export function customResourceDefinition(kind: DeclaredKind): CustomResourceDefinition {
  const { group, plural, singular, shortNames, categories, listKind } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      ...(Object.keys(kind.labels).length > 0 ? { labels: { ...kind.labels } } : {}),
    },
    spec: {
      group,
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: kind.kind,
        listKind,
        plural,
        singular,
        ...(shortNames.length > 0 ? { shortNames: [...shortNames] } : {}),
        ...(categories.length > 0 ? { categories: [...categories] } : {}),
      },
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: kind.schema },
          ...(kind.hasStatus ? { subresources: { status: {} } } : {}),
          ...(kind.columns.length > 0
            ? { additionalPrinterColumns: kind.columns.map((column) => ({ ...column })) }
            : {}),
        },
      ],
    },
  };
}

export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string; labels?: Record<string, string> };
  spec: {
    group: string;
    scope: 'Namespaced' | 'Cluster';
    names: {
      kind: string;
      listKind: string;
      plural: string;
      singular: string;
      shortNames?: string[];
      categories?: string[];
    };
    versions: {
      name: string;
      served: boolean;
      storage: boolean;
      schema: { openAPIV3Schema: DeclaredKind['schema'] };
      subresources?: { status: Record<string, never> };
      additionalPrinterColumns?: DeclaredKind['columns'][number][];
    }[];
  };
}
