import type { JsonObject } from '../../../api/json.ts';
import { defineBuiltin, statusSubresource } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn, wideColumn } from '../columns.ts';
import {
  fill,
  fillAbsent,
  isAbsent,
  membersAt,
  numberAt,
  objectAt,
  objectMadeAt,
  objectsAt,
  optionalNumberAt,
  specOf,
  statusOf,
  textAt,
  textMapAt,
  textsAt,
} from '../reading.ts';
import { dropWhatTheTypeLacks, isExternallyAccessible, keepAllocated, matchClusterIps } from './service-changes.ts';
import { validateService } from './service-rules.ts';

const of = { group: '', version: 'v1', kind: 'Service' };
const THREE_HOURS = 10800;

export const services = defineBuiltin({
  ...of,
  plural: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  subresources: [statusSubresource(of)],
  nameRule: 'dns1035',
  qualifiedFinalizers: true,
  createOnUpdate: true,
  columns: [
    nameColumn,
    column('Type', { description: 'How the service is reached.' }, typeOf),
    column('Cluster-IP', { description: 'Address inside the cluster.' }, (service) => clusterIpsOf(service)[0] ?? NONE),
    column('External-IP', { description: 'Addresses outside the cluster.' }, externalIps),
    column('Port(s)', { description: 'Ports, and node ports behind a colon.' }, ports),
    ageColumn,
    wideColumn('Selector', 'Labels of the pods behind the service.', selector),
  ],
  selectableFields: {
    'spec.clusterIP': (service) => textAt(specOf(service), 'clusterIP'),
    'spec.type': typeOf,
  },

  defaults(service) {
    const spec = objectMadeAt(service, 'spec');
    defaultAffinity(spec);
    fill(spec, 'type', 'ClusterIP');
    for (const port of membersAt(spec, 'ports')) defaultPort(port);
    if (isExternallyAccessible(spec)) fill(spec, 'externalTrafficPolicy', 'Cluster');
    const type = textAt(spec, 'type');
    if (HAS_CLUSTER_IP.has(type)) fillAbsent(spec, 'internalTrafficPolicy', 'Cluster');
    // There is no traffic to speak of where a service is only a name.
    if (type === 'ExternalName') delete spec['internalTrafficPolicy'];
    if (type !== 'LoadBalancer') return;
    fillAbsent(spec, 'allocateLoadBalancerNodePorts', true);
    for (const ingress of membersAt(objectAt(statusOf(service), 'loadBalancer'), 'ingress')) {
      if (textAt(ingress, 'ip') !== '') fillAbsent(ingress, 'ipMode', 'VIP');
    }
  },

  prepare(service, old) {
    const spec = objectMadeAt(service, 'spec');
    if (old === undefined) service['status'] = { loadBalancer: {} };
    else keepAllocated(spec, specOf(old));
    matchClusterIps(spec, old && specOf(old));
    if (old === undefined) return;
    dropWhatTheTypeLacks(spec, specOf(old));
    if (textAt(spec, 'type') !== 'LoadBalancer') objectMadeAt(service, 'status')['loadBalancer'] = {};
  },

  validate: validateService,
});

const HAS_CLUSTER_IP = new Set(['ClusterIP', 'NodePort', 'LoadBalancer']);
const NONE = '<none>';

function defaultAffinity(spec: JsonObject): void {
  fill(spec, 'sessionAffinity', 'None');
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
  if (spec['sessionAffinity'] !== 'ClientIP') return;
  const timeout = optionalNumberAt(objectAt(objectAt(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds');
  if (timeout === undefined) spec['sessionAffinityConfig'] = { clientIP: { timeoutSeconds: THREE_HOURS } };
}

function defaultPort(port: JsonObject): void {
  fill(port, 'protocol', 'TCP');
  if (isAbsent(port, 'targetPort') || port['targetPort'] === 0 || port['targetPort'] === '') {
    port['targetPort'] = numberAt(port, 'port');
  }
}

function typeOf(service: JsonObject): string {
  return textAt(specOf(service), 'type');
}

const clusterIpsOf = (service: JsonObject): string[] => textsAt(specOf(service), 'clusterIPs');

function externalIps(service: JsonObject): string {
  const spec = specOf(service);
  const own = textsAt(spec, 'externalIPs');
  switch (textAt(spec, 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return own.join(',') || NONE;
    case 'LoadBalancer': {
      const ingress = objectsAt(objectAt(statusOf(service), 'loadBalancer'), 'ingress');
      const given = ingress.map((at) => textAt(at, 'ip') || textAt(at, 'hostname')).filter((at) => at !== '');
      return [...[...new Set(given)].sort(), ...own].join(',') || '<pending>';
    }
    case 'ExternalName':
      return textAt(spec, 'externalName');
    default:
      return '<unknown>';
  }
}

function ports(service: JsonObject): string {
  const texts = objectsAt(specOf(service), 'ports').map((port) => {
    const nodePort = numberAt(port, 'nodePort');
    return `${numberAt(port, 'port')}${nodePort > 0 ? `:${nodePort}` : ''}/${textAt(port, 'protocol')}`;
  });
  return texts.join(',') || NONE;
}

function selector(service: JsonObject): string {
  const labels = [...textMapAt(specOf(service), 'selector')].map(([key, value]) => `${key}=${value}`);
  return labels.sort().join(',') || NONE;
}
