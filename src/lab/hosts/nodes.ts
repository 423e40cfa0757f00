import { LAB_LABEL, Node, type Taint } from '../../api/core/node.ts';
import { Pod } from '../../api/core/pod.ts';
import { Lease } from '../../runtime/builtin.ts';
import { type Client, isConflict } from '../../runtime/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import { timestamp } from '../../runtime/timestamp.ts';
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

/** Makes the Node of a host, before its agent comes, with what the lab says of it. Taints that others have put on it stay. */
export async function announceNode(client: Client, lab: string, { name, labels, taints }: PlannedHost): Promise<void> {
  const metadata = { name, labels: { ...labels, [LAB_LABEL]: lab } };
  await unlessChanged(async () => {
    const node = await client.get(Node, name);
    const there = node?.spec.taints ?? [];
    const others = there.filter((taint) => !taints.some((own) => isSameTaint(own, taint)));
    // One that is there already keeps its time.
    const own = taints.map(
      (taint) => there.find((each) => isSameTaint(each, taint) && isAsWritten(each, taint)) ?? taint,
    );
    const version = node === undefined ? {} : { resourceVersion: node.metadata.resourceVersion };
    await client.apply(Node, { metadata: { ...metadata, ...version }, spec: { taints: [...others, ...own] } }, FORCE);
  });
}

/**
 * Says of hosts on which nothing runs yet that nothing is known of them: what their Nodes say is of a former life, whose end
 * nobody may have noticed, and others would believe in the pods that it had. The next word is their agents'.
 */
export async function forgetWords(client: Client, hosts: readonly PlannedHost[], clock: Clock): Promise<void> {
  await Promise.all(hosts.map(({ name }) => unlessChanged(() => forgetWord(client, name, clock))));
}

async function forgetWord(client: Client, name: string, clock: Clock): Promise<void> {
  const node = await client.get(Node, name);
  if (node === undefined || !isReady(node)) return;
  const { resourceVersion } = node.metadata;
  const unheard = { status: 'Unknown', reason: 'AgentNotHeardYet', message: 'The host is only just there' };
  const conditions = (node.status?.conditions ?? []).map((condition) =>
    condition.type === 'Ready'
      ? { ...condition, ...unheard, lastTransitionTime: timestamp(clock.now()) }
      : { ...condition },
  );
  await client.patch(
    Node,
    { namespace: '', name },
    { merge: { metadata: { resourceVersion }, status: { conditions } } },
    'status',
  );
}

/** Takes off a Node what the lab has put on it and does not want there any more. */
export async function removeTaints(client: Client, name: string, unwanted: readonly Taint[]): Promise<void> {
  await unlessChanged(async () => {
    const node = await client.get(Node, name);
    const there = node?.spec.taints ?? [];
    const taints = there.filter(
      (taint) => !unwanted.some((each) => isSameTaint(each, taint) && isAsWritten(taint, each)),
    );
    if (node === undefined || taints.length === there.length) return;
    const { resourceVersion } = node.metadata;
    const merge = { metadata: { resourceVersion }, spec: { taints: taints.map((taint) => ({ ...taint })) } };
    await client.patch(Node, { namespace: '', name }, { merge });
  });
}

const FORCE = { force: true };

/** Of a key there is one taint of each effect. */
const isSameTaint = (one: Taint, other: Taint): boolean => one.key === other.key && one.effect === other.effect;
const isAsWritten = (one: Taint, other: Taint): boolean => (one.value ?? '') === (other.value ?? '');

/** Agents and controllers write Nodes all the time: whoever writes all taints must have seen all of them. */
async function unlessChanged(write: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
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
