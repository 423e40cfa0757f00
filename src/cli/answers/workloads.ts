import { Deployment, ReplicaSet } from '../../api/apps/workloads.ts';
import { Node } from '../../api/core/node.ts';
import { Pod } from '../../api/core/pod.ts';
import { Service } from '../../api/core/service.ts';
import { EndpointSlice, SERVICE_NAME } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { isJsonObject } from '../../api/json.ts';
import type { DNSMasq } from '../../api/network.openstack.org/dnsmasq.ts';
import type { ApiObject } from '../../api/object.ts';
import type { Event } from '../../runtime/builtin.ts';
import { backendFindings, podsBehind } from './backend-findings.ts';
import { called, type Finding, named, note, problem, statusOf } from './finding.ts';
import { nodeFindings } from './node-findings.ts';
import { nodeOf, podFindings, podServes } from './pod-findings.ts';
import type { Reader } from './reader.ts';
import { isServed } from './service-findings.ts';
import type { Special, Surroundings } from './special.ts';
import { type WorkloadFacts, workloadFindings, workloadServes } from './workload-findings.ts';

/** Reads what is to be known of pods, and of what keeps pods or leads to them. */

export async function aboutPod(pod: Pod, { reader, events, now }: Surroundings): Promise<Special> {
  const { nodeName } = pod.spec;
  const node = nodeName === undefined ? undefined : await reader.see(Node, '', nodeName);
  const findings = podFindings({ pod, node, warning: newestWarning(events), now });
  return { special: findings, served: podServes(pod) };
}

export async function aboutNode(node: Node, { reader, now }: Surroundings): Promise<Special> {
  const pods = await reader.list(Pod, { fieldSelector: `spec.nodeName=${node.metadata.name}` });
  return { special: nodeFindings({ node, pods: pods.length, now }) };
}

/** Of anything of `apps` that keeps pods. */
export async function aboutWorkload(object: ApiObject, surroundings: Surroundings): Promise<Special> {
  const facts = await workloadFacts(object, surroundings);
  return { special: workloadFindings(facts), served: workloadServes(facts) && isUpToDate(object) };
}

/** A DNSMasq is what its servers are. */
export async function aboutDnsMasq(dnsMasq: DNSMasq, surroundings: Surroundings): Promise<Special> {
  const { namespace = '', uid } = dnsMasq.metadata;
  const [deployments, services] = await Promise.all([
    surroundings.reader.list(Deployment, { namespace }),
    surroundings.reader.list(Service, { namespace }),
  ]);
  const own = deployments.filter((each) => isOwnedBy(each, new Set([uid])));
  const waiting = services.filter((each) => isOwnedBy(each, new Set([uid])) && isServed(each) === false).map(named);
  const found = await Promise.all(
    own.map(async (deployment): Promise<Finding[]> => {
      const because = workloadFindings(await workloadFacts(deployment, surroundings));
      const about = named(deployment);
      return because.length === 0 ? [] : [problem(about, `its ${called(about)} is not Ready`, { because })];
    }),
  );
  const addresses = waiting.map((about) => {
    const see = `see why: netloom explain service/${about.name} -n ${about.namespace}`;
    return note(about, `its ${called(about)} has no address yet`, { remedies: [see] });
  });
  return { special: [...found.flat(), ...addresses] };
}

/** Undefined for a Service that stands for no pods. */
export async function aboutBackends(service: Service, { reader, now }: Surroundings): Promise<Finding[]> {
  if (podsBehind(service, []) === undefined) return [];
  const { namespace = '', name } = service.metadata;
  const [pods, slices] = await Promise.all([
    reader.list(Pod, { namespace }),
    reader.list(EndpointSlice, { namespace, labelSelector: `${SERVICE_NAME}=${name}` }),
  ]);
  const reasons = await reasonsOf(podsBehind(service, pods) ?? [], { reader, now });
  return backendFindings({ service, pods, slices, reasons });
}

async function workloadFacts(object: ApiObject, { reader, now }: Surroundings): Promise<WorkloadFacts> {
  const { namespace = '', uid } = object.metadata;
  const [sets, all] = await Promise.all([reader.list(ReplicaSet, { namespace }), reader.list(Pod, { namespace })]);
  const ownSets = sets.filter((set) => isOwnedBy(set, new Set([uid])));
  const keepers = new Set([uid, ...ownSets.map(({ metadata }) => metadata.uid)]);
  const pods = all.filter((pod) => isOwnedBy(pod, keepers));
  const [reasons, events] = await Promise.all([
    reasonsOf(pods, { reader, now }),
    Promise.all([object, ...ownSets.filter(({ spec }) => spec.replicas !== 0)].map((each) => reader.eventsAbout(each))),
  ]);
  return {
    object,
    wanted: wantedBy(object),
    pods,
    reasons,
    warning: newestWarning(events.flat()),
    paused: specOf(object)['paused'] === true,
  };
}

/** Why pods are not Ready; with what was said about the first of them. */
async function reasonsOf(
  pods: readonly Pod[],
  { reader, now }: { readonly reader: Reader; readonly now: number },
): Promise<Map<string, Finding[]>> {
  const waiting = pods.filter((pod) => !podServes(pod)).slice(0, MOST_PODS);
  if (waiting.length === 0) return new Map();
  const nodes = await reader.list(Node);
  return new Map(
    await Promise.all(
      waiting.map(async (pod, place): Promise<[string, Finding[]]> => {
        const events = place < MOST_WITH_EVENTS ? await reader.eventsAbout(pod) : [];
        const facts = { pod, node: nodeOf(pod, nodes), warning: newestWarning(events), now };
        return [pod.metadata.uid, podFindings(facts)];
      }),
    ),
  );
}

const newestWarning = (events: readonly Event[]): string | undefined =>
  events.find(({ type }) => type === 'Warning')?.message;

const isOwnedBy = ({ metadata: { ownerReferences = [] } }: ApiObject, owners: ReadonlySet<string>): boolean =>
  ownerReferences.some(({ uid }) => owners.has(uid));

/** One for each node that fits is what a DaemonSet wants; others say how many. */
function wantedBy(object: ApiObject): number {
  const { desiredNumberScheduled } = statusOf(object);
  const { replicas } = specOf(object);
  if (typeof desiredNumberScheduled === 'number') return desiredNumberScheduled;
  return typeof replicas === 'number' ? replicas : 1;
}

function isUpToDate(object: ApiObject): boolean {
  const { observedGeneration } = statusOf(object);
  return typeof observedGeneration !== 'number' || observedGeneration >= (object.metadata.generation ?? 0);
}

const specOf = (object: ApiObject) => ('spec' in object && isJsonObject(object.spec) ? object.spec : {});

const MOST_PODS = 500;
const MOST_WITH_EVENTS = 5;
