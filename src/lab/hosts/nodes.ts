import { LAB_LABEL, Node } from '../../api/core/node.ts';
import { Pod } from '../../api/core/pod.ts';
import { Lease } from '../../runtime/builtin.ts';
import { type Client, isConflict } from '../../runtime/client.ts';
import type { PlannedHost } from '../plan/lab-plan.ts';

/** The Nodes that have the name of a host, but not of this lab's: each a sentence. */
export async function foreignNodes(client: Client, lab: string, hosts: readonly PlannedHost[]): Promise<string[]> {
  const names = new Set(hosts.filter(({ agent }) => agent).map(({ name }) => name));
  const nodes = (await client.list(Node)).filter(({ metadata }) => names.has(metadata.name));
  return nodes.flatMap(({ metadata: { name, labels = {} } }) => {
    const owner = labels[LAB_LABEL];
    if (owner === lab) return [];
    const who = owner === undefined ? 'and is of no lab' : `and is of the lab ${owner}`;
    return [
      `there is a Node ${name} already, ${who}: rename the host, or delete the Node with kubectl delete node ${name}`,
    ];
  });
}

/** Makes the Node of a host, before its agent comes, with what the lab says of it. */
export async function announceNode(client: Client, lab: string, { name, labels, taints }: PlannedHost): Promise<void> {
  const metadata = { name, labels: { ...labels, [LAB_LABEL]: lab } };
  await client.apply(Node, { metadata, spec: { taints: [...taints] } }, { force: true });
}

/** Nothing of the host is left in the API: its pods are gone without anybody's goodbye, for there is nobody to say it. */
export async function withdrawNode(client: Client, lab: string, { name }: PlannedHost): Promise<void> {
  const node = await client.get(Node, name);
  // Somebody else's, who has made it when ours was gone.
  if (node !== undefined && node.metadata.labels?.[LAB_LABEL] !== lab) return;
  await client.delete(Node, { namespace: '', name });
  const { items } = await client.snapshot(Pod, { fieldSelector: `spec.nodeName=${name}` });
  await Promise.all(items.map((pod) => removePod(client, pod)));
  await client.delete(Lease, { namespace: 'kube-node-lease', name });
}

async function removePod(client: Client, { metadata: { namespace = '', name, uid } }: Pod): Promise<void> {
  try {
    await client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0, uid });
  } catch (error) {
    // The name has been given to another pod meanwhile.
    if (!isConflict(error)) throw error;
  }
}

/**
 * Of the hosts of a lab, those that are Ready.
 * @param since from when on the agent of a host must have been heard of: a Node says for some seconds how its host was before
 */
export async function readyHosts(
  client: Client,
  lab: string,
  since: ReadonlyMap<string, number>,
): Promise<ReadonlySet<string>> {
  const { items } = await client.snapshot(Node, { labelSelector: `${LAB_LABEL}=${lab}` });
  const heard = since.size === 0 ? new Map<string, number>() : await lastHeard(client);
  const isNews = (name: string): boolean => (heard.get(name) ?? 0) >= (since.get(name) ?? 0);
  const names = items.filter(isReady).map(({ metadata }) => metadata.name);
  return new Set(names.filter(isNews));
}

async function lastHeard(client: Client): Promise<Map<string, number>> {
  const { items } = await client.snapshot(Lease, { namespace: 'kube-node-lease' });
  return new Map(items.map(({ metadata, spec }) => [metadata.name, Date.parse(spec?.renewTime ?? '') || 0]));
}

export const isReady = (node: Node | undefined): boolean =>
  node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
