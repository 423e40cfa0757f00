import { Address } from '../../api/address.ts';
import { Node } from '../../api/core/node.ts';
import { Pod } from '../../api/core/pod.ts';
import { Service } from '../../api/core/service.ts';
import type { Kind } from '../../api/kind.ts';
import type { ApiObject } from '../../api/object.ts';
import { Prefix } from '../../api/prefix.ts';
import { isFinished } from '../../pods/pod-state.ts';
import type { Holder, HolderName, Wanted } from './holder.ts';
import type { Place } from './place.ts';

/** What has addresses that no ledger gives: they are those of the cluster itself. */
export interface Carriers {
  readonly pods: readonly Pod[];
  readonly services: readonly Service[];
  readonly nodes: readonly Node[];
}

/** Those that are asked for, as if they were on record. */
export const carriedBy = ({ pods, services, nodes }: Carriers, wanted: Wanted): Holder[] => [
  ...nodes.flatMap((node) => {
    const texts = (node.status?.addresses ?? []).flatMap(({ type, address }) => (type === 'Hostname' ? [] : [address]));
    return carried(Node, node, { texts, as: 'address of a node', host: node.metadata.name }, wanted);
  }),
  ...pods.flatMap((pod) => {
    // On the network of its host it has the address of the host; one that has ended has given its own back.
    if (pod.spec.hostNetwork === true || isFinished(pod)) return [];
    const { podIPs = [], startTime } = pod.status ?? {};
    const texts = podIPs.map(({ ip }) => ip);
    return carried(Pod, pod, { texts, as: 'address of a pod', host: pod.spec.nodeName, since: startTime }, wanted);
  }),
  ...services.flatMap((service) =>
    carried(Service, service, { texts: service.spec.clusterIPs ?? [], as: 'address within the cluster' }, wanted),
  ),
];

interface Found {
  readonly texts: readonly string[];
  readonly as: string;
  readonly host?: string | undefined;
  readonly since?: string | undefined;
}

function carried(kind: Kind, object: ApiObject, { texts, as, host, since }: Found, wanted: Wanted): Holder[] {
  const { namespace = '', name, uid, creationTimestamp } = object.metadata;
  const holder: HolderName = { apiGroup: kind.group, kind: kind.kind, namespace, name, uid };
  return [...new Set(texts)].flatMap((text): Holder[] => {
    const address = Address.parse(text);
    if (address === undefined || !wanted.matches(address, [holder])) return [];
    return [
      {
        address: `${address}`,
        space: '',
        namespace,
        holder,
        as,
        network: '',
        subnet: '',
        since: since ?? creationTimestamp,
        ...(host === undefined ? {} : { host }),
      },
    ];
  });
}

/** The nodes whose pods may get the address. */
export const placesOnNodes = (address: Address, nodes: readonly Node[]): Place[] =>
  nodes.flatMap(({ metadata: { name }, spec: { podCIDR, podCIDRs = podCIDR === undefined ? [] : [podCIDR] } }) =>
    podCIDRs
      .filter((text) => Prefix.parse(text)?.contains(address) === true)
      .map((range): Place => {
        const because = 'pods on that node get it';
        return { kind: Node.kind, namespace: '', name, range, excluded: false, given: 'dynamic', because };
      }),
  );
