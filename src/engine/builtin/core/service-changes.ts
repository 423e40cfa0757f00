import { equalJson, type JsonObject } from '../../../api/json.ts';
import { membersAt, numberAt, objectsAt, textAt, textsAt } from '../reading.ts';

/** Reached from outside the cluster: by a load balancer, by node ports, or by addresses routed to the nodes. */
export const isExternallyAccessible = (spec: JsonObject): boolean =>
  usesNodePorts(spec) || (textAt(spec, 'type') === 'ClusterIP' && textsAt(spec, 'externalIPs').length > 0);

export const needsHealthCheck = (spec: JsonObject): boolean =>
  textAt(spec, 'type') === 'LoadBalancer' && textAt(spec, 'externalTrafficPolicy') === 'Local';

export const isHeadless = (spec: JsonObject): boolean => {
  const addresses = textsAt(spec, 'clusterIPs');
  return addresses.length === 1 && addresses[0] === 'None';
};

const usesNodePorts = (spec: JsonObject): boolean => ['NodePort', 'LoadBalancer'].includes(textAt(spec, 'type'));
const usesClusterIp = (spec: JsonObject): boolean => textAt(spec, 'type') !== 'ExternalName';

/**
 * Addresses and ports that were allocated for the service stay with it when a client, who never chose them, replaces the
 * service without naming them.
 */
export function keepAllocated(spec: JsonObject, old: JsonObject): void {
  if (usesClusterIp(spec) && usesClusterIp(old)) {
    if (textAt(spec, 'clusterIP') === '' && textAt(old, 'clusterIP') !== '')
      spec['clusterIP'] = textAt(old, 'clusterIP');
    if (textsAt(spec, 'clusterIPs').length === 0) copy(spec, old, 'clusterIPs');
    if (textsAt(spec, 'ipFamilies').length === 0) copy(spec, old, 'ipFamilies');
    if (textAt(spec, 'ipFamilyPolicy') === '') copy(spec, old, 'ipFamilyPolicy');
  }
  if (usesNodePorts(spec) && usesNodePorts(old)) keepNodePorts(spec, old);
  if (needsHealthCheck(spec) && needsHealthCheck(old) && numberAt(spec, 'healthCheckNodePort') === 0) {
    copy(spec, old, 'healthCheckNodePort');
  }
}

function keepNodePorts(spec: JsonObject, old: JsonObject): void {
  const portsBefore = objectsAt(old, 'ports');
  const named = new Map(portsBefore.map((port) => [textAt(port, 'name'), numberAt(port, 'nodePort')]));
  const before = nodePortsOf(old);
  const used = new Set([...nodePortsOf(spec)].filter((port) => before.has(port)));
  for (const port of membersAt(spec, 'ports')) {
    const known = named.get(textAt(port, 'name')) ?? 0;
    if (numberAt(port, 'nodePort') === 0 && known !== 0 && !used.has(known)) port['nodePort'] = known;
  }
}

/** `clusterIPs` follows `clusterIP` where a client speaks only of the older field. */
export function matchClusterIps(spec: JsonObject, old: JsonObject | undefined): void {
  const address = textAt(spec, 'clusterIP');
  if (old === undefined) {
    if (address !== '' && textsAt(spec, 'clusterIPs').length === 0) spec['clusterIPs'] = [address];
    return;
  }
  const before = textAt(old, 'clusterIP');
  if (address === before) {
    if (textsAt(spec, 'clusterIPs').length === 0) copy(spec, old, 'clusterIPs');
  } else if (isSame(spec, old, 'clusterIPs')) {
    if (address === '') delete spec['clusterIPs'];
    else spec['clusterIPs'] = [address];
  }
}

/**
 * Fields that only the former type of the service had are dropped, if the client left them as they were: they came with
 * the type and go with it. What the client did change stays, for validation to refuse.
 */
export function dropWhatTheTypeLacks(spec: JsonObject, old: JsonObject): void {
  if (usesClusterIp(old) && !usesClusterIp(spec)) {
    if (isSame(spec, old, 'clusterIP') && isSame(spec, old, 'clusterIPs')) {
      delete spec['clusterIP'];
      delete spec['clusterIPs'];
    }
    dropIfSame(spec, old, 'ipFamilies');
    dropIfSame(spec, old, 'ipFamilyPolicy');
  }
  if (usesNodePorts(old) && !usesNodePorts(spec) && nodePortsOf(spec).isSubsetOf(nodePortsOf(old))) {
    for (const port of membersAt(spec, 'ports')) delete port['nodePort'];
  }
  if (needsHealthCheck(old) && !needsHealthCheck(spec)) dropIfSame(spec, old, 'healthCheckNodePort');
  if (textAt(old, 'type') === 'LoadBalancer' && textAt(spec, 'type') !== 'LoadBalancer') {
    dropIfSame(spec, old, 'allocateLoadBalancerNodePorts');
    dropIfSame(spec, old, 'loadBalancerClass');
  }
  if (isExternallyAccessible(old) && !isExternallyAccessible(spec)) dropIfSame(spec, old, 'externalTrafficPolicy');
}

const nodePortsOf = (spec: JsonObject): Set<number> =>
  new Set(
    objectsAt(spec, 'ports')
      .map((port) => numberAt(port, 'nodePort'))
      .filter((port) => port !== 0),
  );

const isSame = (spec: JsonObject, old: JsonObject, key: string): boolean => equalJson(spec[key] ?? '', old[key] ?? '');

function dropIfSame(spec: JsonObject, old: JsonObject, key: string): void {
  if (isSame(spec, old, key)) delete spec[key];
}

function copy(spec: JsonObject, old: JsonObject, key: string): void {
  const value = old[key];
  if (value !== undefined) spec[key] = structuredClone(value);
}
