import type { JsonObject } from '../../api/json.ts';
import { internalError, invalid } from '../../api/status.ts';
import { needsHealthCheck } from '../builtin/core/service-changes.ts';
import { invalidValue } from '../builtin/field-errors.ts';
import { membersAt, nameOf, numberAt, objectsAt, specOf, textAt } from '../builtin/reading.ts';
import { draw, reservedOf } from './draw.ts';
import type { PortRange } from './ranges.ts';

/** The ports of every host that a Service has. */
export function nodePortsOf(spec: JsonObject): number[] {
  const ports = objectsAt(spec, 'ports').map((port) => numberAt(port, 'nodePort'));
  if (needsHealthCheck(spec)) ports.push(numberAt(spec, 'healthCheckNodePort'));
  return [...new Set(ports)].filter((port) => port > 0);
}

export interface PortClaims {
  isFree(port: number): boolean;
  take(port: number): void;
}

/** Gives a Service the ports of hosts that it wants or needs. Throws when one of them cannot be had. */
export function giveNodePorts(
  service: JsonObject,
  before: JsonObject | undefined,
  range: PortRange,
  claims: PortClaims,
): void {
  const spec = specOf(service);
  const kept = new Set(before === undefined ? [] : nodePortsOf(before));
  const type = textAt(spec, 'type');
  if (type === 'NodePort' || type === 'LoadBalancer') givePorts(service, kept, range, claims);
  if (needsHealthCheck(spec)) giveHealthCheckPort(spec, kept, range, claims);
}

function givePorts(service: JsonObject, kept: ReadonlySet<number>, range: PortRange, claims: PortClaims): void {
  const spec = specOf(service);
  const ports = membersAt(spec, 'ports');
  const isGiven = textAt(spec, 'type') === 'NodePort' || spec['allocateLoadBalancerNodePorts'] === true;
  // Those that were asked for come first, so that none of them is given to another port of the same Service.
  for (const [i, port] of ports.entries()) {
    const wanted = numberAt(port, 'nodePort');
    const fault = wanted === 0 ? undefined : take(wanted, kept, range, claims);
    if (fault === undefined) continue;
    const error = invalidValue(`spec.ports[${i}].nodePort`, wanted, fault);
    throw invalid({ group: '', kind: 'Service' }, nameOf(service), [error]);
  }
  /** Port of the Service → its port on hosts: the same number for TCP and UDP. */
  const given = new Map<number, number>();
  for (const port of ports) {
    const number = numberAt(port, 'port');
    const nodePort = numberAt(port, 'nodePort');
    if (nodePort > 0 && !given.has(number)) given.set(number, nodePort);
  }
  if (!isGiven) return;
  const used = new Set(ports.map((port) => `${textAt(port, 'protocol')}/${numberAt(port, 'nodePort')}`));
  for (const port of ports) {
    if (numberAt(port, 'nodePort') > 0) continue;
    const number = numberAt(port, 'port');
    const shared = given.get(number);
    const isUsed = shared === undefined || used.has(`${textAt(port, 'protocol')}/${shared}`);
    const nodePort = isUsed ? drawPort(range, claims, 'a nodePort') : shared;
    if (isUsed) given.set(number, nodePort);
    port['nodePort'] = nodePort;
    used.add(`${textAt(port, 'protocol')}/${nodePort}`);
  }
}

function giveHealthCheckPort(spec: JsonObject, kept: ReadonlySet<number>, range: PortRange, claims: PortClaims): void {
  const wanted = numberAt(spec, 'healthCheckNodePort');
  if (wanted === 0) {
    spec['healthCheckNodePort'] = drawPort(range, claims, 'a HealthCheck NodePort');
    return;
  }
  const fault = take(wanted, kept, range, claims);
  if (fault !== undefined) {
    throw internalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${fault}`);
  }
}

/** Why a port cannot be had. One that the Service has had stays with it, be it outside of the range. */
function take(
  port: number,
  kept: ReadonlySet<number>,
  { first, last }: PortRange,
  claims: PortClaims,
): string | undefined {
  if (!kept.has(port) && (port < first || port > last)) {
    return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`;
  }
  if (!claims.isFree(port)) return 'provided port is already allocated';
  claims.take(port);
  return undefined;
}

function drawPort({ first, last }: PortRange, claims: PortClaims, what: string): number {
  const size = last - first + 1;
  const found = draw(size, reservedOf(size, { part: 32, most: 128 }), (i) => claims.isFree(first + i));
  if (found === undefined) throw internalError(`failed to allocate ${what}: range is full`);
  claims.take(first + found);
  return first + found;
}
