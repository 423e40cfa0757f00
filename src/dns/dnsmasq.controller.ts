import { Deployment } from '../api/apps/workloads.ts';
import { ConfigMap, ServiceAccount } from '../api/core/config.ts';
import { Pod } from '../api/core/pod.ts';
import { Service } from '../api/core/service.ts';
import type { Kind } from '../api/kind.ts';
import { DNSData } from '../api/network.openstack.org/dnsdata.ts';
import { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import type { ApiObject } from '../api/object.ts';
import { Role, RoleBinding } from '../api/rbac.authorization.k8s.io/role.ts';
import { labelValueFaults } from '../api/syntax.ts';
import { Topology } from '../api/topology.openstack.org/topology.ts';
import type { Caches } from '../runtime/cache.ts';
import { type Context, type Controller, controller, type Watch } from '../runtime/controller.ts';
import { done, failed, wait } from '../runtime/outcome.ts';
import { controllerOf } from '../runtime/owner.ts';
import { type Ref, refOf } from '../runtime/ref.ts';
import { type Children, childrenOf, namesOf } from './dnsmasq-children.ts';
import { dnsMasqStatus, type Found } from './dnsmasq-status.ts';
import { fingerprint } from './fingerprint.ts';
import { cleaned, textsOf } from './hosts-file.ts';
import { byController, childName, HOSTS_LABEL, selectorValue } from './names.ts';
import { objectionIn } from './objection.ts';
import { optionsFault, optionsOf } from './options.ts';
import { somebodyElses } from './ownership.ts';
import { type Placement, placedBy, placementOf } from './placement.ts';

export interface DNSMasqOptions {
  /** Of the container that brings hosts to dnsmasq, on clusters that run images. */
  readonly helperImage: string;
}

/** Runs the servers of each DNSMasq, and says where they answer. */
export const dnsMasqs = ({ helperImage }: DNSMasqOptions): Controller =>
  controller({
    for: DNSMasq,
    owns: [ServiceAccount, Role, RoleBinding, ConfigMap, Service, Deployment],
    watches: [
      { kind: ConfigMap, wakes: (configMap, caches) => servedBy(configMap, caches) },
      { kind: Pod, where: { labelSelector: 'service=dnsmasq' }, wakes: (pod) => serving(pod) },
      { kind: Topology, wakes: placedBy },
      inTheWay(ServiceAccount),
      inTheWay(Role),
      inTheWay(RoleBinding),
      inTheWay(ConfigMap),
      inTheWay(Service),
      inTheWay(Deployment),
    ],
    parallel: 4,
    finalizer: {
      name: 'openstack.org/dnsmasq',
      former: ['DNSMasq'],
      release: async () => done(),
    },
    async reconcile(object, context) {
      const placement = placementOf(object, context.caches);
      const children = childrenOf(object, helperImage, placement);
      const fault = faultOf(object) ?? takenName(object, children, context.caches);
      const objection = fault === undefined ? await applyAll(object, children, placement, context) : undefined;
      const found = find(object, children, context);
      const problem = fault ?? objection?.message;
      const { status, event } = dnsMasqStatus({ object, found, placement, problem, now: context.system.now() });
      if (event !== undefined) context.events.warning(object, event.reason, event.message);
      if (objection !== undefined) return failed(objection, { status });
      return fault === undefined ? done({ status }) : wait({ status });
    },
  });

/** What has a name that a DNSMasq needs, and is not its own: when it goes, there is something to be done. */
const inTheWay = <T extends ApiObject>(kind: Kind<T>): Watch<T> => ({
  kind,
  wakes: (object, caches) =>
    controllerOf(object, DNSMasq) !== undefined
      ? []
      : caches
          .of(DNSMasq)
          .list(object.metadata.namespace)
          .filter((dnsMasq) => isWanted(dnsMasq, kind, object.metadata.name))
          .map(refOf),
});

const isWanted = (dnsMasq: DNSMasq, kind: Kind, name: string): boolean =>
  (name === dnsMasq.metadata.name || name.startsWith(childName(dnsMasq))) &&
  namesOf(childrenOf(dnsMasq, '')).some((each) => each.kind === kind && each.name === name);

/** Returns what the server has against one of them. */
async function applyAll(
  object: DNSMasq,
  wanted: Children,
  placement: Placement,
  context: Context,
): Promise<Error | undefined> {
  try {
    await applyEach(object, wanted, context);
    if (placement.fault === undefined) await context.children.apply(Deployment, wanted.workload, object);
    return undefined;
  } catch (error) {
    const objection = objectionIn(error);
    if (objection === undefined) throw error;
    return objection;
  }
}

/** What the pods need, in that order. */
async function applyEach(object: DNSMasq, wanted: Children, { children, caches, client }: Context): Promise<void> {
  await children.apply(ServiceAccount, wanted.account, object);
  await children.apply(Role, wanted.role, object);
  await children.apply(RoleBinding, wanted.binding, object);
  await children.apply(ConfigMap, wanted.options, object);
  for (const service of wanted.services) await children.apply(Service, service, object);
  const names = new Set(wanted.services.map(({ metadata }) => metadata.name));
  for (const { metadata } of caches.of(Service).by(ownedServices, object.metadata.uid)) {
    if (!names.has(metadata.name)) await client.delete(Service, refOf({ metadata }));
  }
}

/** What no server would object to, and nobody could follow, such as a label that there cannot be. */
function faultOf(object: DNSMasq): string | undefined {
  const { dnsDataLabelSelectorValue: value } = object.spec;
  const [fault] = labelValueFaults(value.toLowerCase());
  if (fault !== undefined) return `spec.dnsDataLabelSelectorValue: ${JSON.stringify(value)}: ${fault}`;
  return optionsFault(optionsOf(object));
}

/** The first of the objects we would write that somebody else has under its name. */
function takenName(object: DNSMasq, wanted: Children, caches: Caches): string | undefined {
  const { namespace = '' } = object.metadata;
  for (const { kind, name } of namesOf(wanted)) {
    const holder = somebodyElses(object, caches.of(kind).get({ namespace, name }));
    if (holder !== undefined) return `${kind.kind} ${name} ${holder}`;
  }
  return undefined;
}

function find(object: DNSMasq, wanted: Children, { caches }: Context): Found {
  const { namespace = '', uid } = object.metadata;
  const hosts = caches
    .of(ConfigMap)
    .by(bySelector, `${namespace}/${selectorValue(object.spec)}`)
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const order = wanted.services.map(({ metadata }) => metadata.name);
  const place = ({ metadata }: Service): number => order.indexOf(metadata.name);
  return {
    services: caches
      .of(Service)
      .by(ownedServices, uid)
      .filter((service) => place(service) >= 0)
      .sort((a, b) => place(a) - place(b)),
    workload: caches.of(Deployment).by(ownedWorkloads, uid)[0],
    pods: caches.of(Pod).by(byDNSMasq, `${namespace}/${object.metadata.name}`),
    hosts: hosts.map((configMap) => [configMap.metadata.name, readingOf(configMap).hash]),
    faults: hosts.flatMap((configMap) => readingOf(configMap).faults),
  };
}

const ownedServices = byController(Service);
const ownedWorkloads = byController(Deployment);

const bySelector = {
  kind: ConfigMap,
  keys: ({ metadata }: ConfigMap): string[] => {
    const value = metadata.labels?.[HOSTS_LABEL];
    return value === undefined ? [] : [`${metadata.namespace}/${value}`];
  },
};

const byDNSMasq = {
  kind: Pod,
  keys: (pod: Pod): string[] => serving(pod).map(({ namespace, name }) => `${namespace}/${name}`),
};

function serving({ metadata: { namespace = '', labels } }: Pod): Ref[] {
  const name = labels?.['dnsmasq.openstack.org/name'];
  return name === undefined ? [] : [{ namespace, name }];
}

function servedBy({ metadata: { namespace, labels } }: ConfigMap, caches: Caches): Ref[] {
  const value = labels?.[HOSTS_LABEL];
  if (value === undefined) return [];
  return caches
    .of(DNSMasq)
    .list(namespace)
    .filter(({ spec }) => selectorValue(spec) === value)
    .map(refOf);
}

/** What a ConfigMap says; remembered, for the objects of a cache never change. */
function readingOf(configMap: ConfigMap): Reading {
  const known = readings.get(configMap);
  if (known !== undefined) return known;
  const { data = {}, binaryData = {}, metadata } = configMap;
  const texts = textsOf(configMap);
  // What we wrote ourselves has been checked.
  const isOurs = metadata.ownerReferences?.some(({ kind, controller }) => kind === DNSData.kind && controller === true);
  const faults = [...(isOurs === true ? [] : texts)].flatMap(([key, text]) =>
    cleaned(text).faults.map((fault) => `ConfigMap ${metadata.name}, ${key}, ${fault}`),
  );
  const reading = { hash: fingerprint([data, binaryData]), faults };
  readings.set(configMap, reading);
  return reading;
}
interface Reading {
  readonly hash: string;
  readonly faults: readonly string[];
}
const readings = new WeakMap<ConfigMap, Reading>();
