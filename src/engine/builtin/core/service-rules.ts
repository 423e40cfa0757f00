import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { dnsLabelFaults, dnsSubdomainFaults, qualifiedNameFaults } from '../../../api/syntax.ts';
import { duplicate, forbiddenField, invalidFor, invalidValue, oneOf, required, unsupported } from '../field-errors.ts';
import { validateCidr, validateEndpointIp, validateIp } from '../ip-text.ts';
import { validateLabels } from '../metadata.ts';
import {
  isAbsent,
  metadataOf,
  numberAt,
  objectAt,
  objectsAt,
  optionalNumberAt,
  specOf,
  statusOf,
  textAt,
  textMapAt,
  textsAt,
} from '../reading.ts';
import { PROTOCOLS, portFaults, validatePortOrName } from './ports.ts';
import { validateClusterIps, validateClusterIpsUpdate } from './service-addresses.ts';
import { isExternallyAccessible, isHeadless, needsHealthCheck } from './service-changes.ts';

export function validateService(service: JsonObject, old: JsonObject | undefined): FieldError[] {
  const spec = specOf(service);
  const before = old === undefined ? undefined : specOf(old);
  return [
    ...(before === undefined ? [] : validateChanges(spec, before)),
    ...validateType(spec),
    ...validatePorts(spec),
    ...validateLabels(spec['selector'], 'spec.selector'),
    ...validateAffinity(spec),
    ...validateClusterIps(spec, before),
    ...validateExternalIps(spec, before),
    ...validateNodePorts(spec),
    ...validateSourceRanges(service, old),
    ...validateLoadBalancerFields(spec),
    ...validateTrafficPolicies(spec),
    ...validateLoadBalancerStatus(service, old),
  ];
}

function validateChanges(spec: JsonObject, before: JsonObject): FieldError[] {
  const errors = validateClusterIpsUpdate(spec, before);
  const isBalanced = textAt(spec, 'type') === 'LoadBalancer' && textAt(before, 'type') === 'LoadBalancer';
  if (isBalanced && (spec['loadBalancerClass'] ?? null) !== (before['loadBalancerClass'] ?? null)) {
    errors.push(invalidValue('spec.loadBalancerClass', spec['loadBalancerClass'], 'may not change once set'));
  }
  const isChecked = needsHealthCheck(spec) && needsHealthCheck(before);
  if (isChecked && numberAt(spec, 'healthCheckNodePort') !== numberAt(before, 'healthCheckNodePort')) {
    errors.push(forbiddenField('spec.healthCheckNodePort', 'field is immutable'));
  }
  return errors;
}

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

function validateType(spec: JsonObject): FieldError[] {
  const type = textAt(spec, 'type');
  const errors: FieldError[] = [];
  if (objectsAt(spec, 'ports').length === 0 && !isHeadless(spec) && type !== 'ExternalName') {
    errors.push(required('spec.ports'));
  }
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec)) {
    errors.push(invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  }
  if (type === 'ExternalName') errors.push(...validateExternalName(spec));
  return [...errors, ...oneOf('spec.type', type, TYPES)];
}

function validateExternalName(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const detail = 'may not be set for ExternalName services';
  if (textsAt(spec, 'clusterIPs').length > 0) errors.push(forbiddenField('spec.clusterIPs', detail));
  if (textsAt(spec, 'ipFamilies').length > 0) errors.push(forbiddenField('spec.ipFamilies', detail));
  if (!isAbsent(spec, 'ipFamilyPolicy')) errors.push(forbiddenField('spec.ipFamilyPolicy', detail));
  // A trailing dot says that the name is complete.
  const name = textAt(spec, 'externalName').replace(/\.$/, '');
  if (name === '') errors.push(required('spec.externalName'));
  else errors.push(...invalidFor('spec.externalName', name, dnsSubdomainFaults(name)));
  return errors;
}

function validatePorts(spec: JsonObject): FieldError[] {
  const ports = objectsAt(spec, 'ports');
  const names = new Set<string>();
  const errors = ports.flatMap((port, i) => validatePort(port, `spec.ports[${i}]`, ports.length > 1, names));
  const taken = new Set<string>();
  for (const [i, port] of ports.entries()) {
    const key = `${textAt(port, 'protocol')}/${numberAt(port, 'port')}`;
    if (taken.has(key)) {
      const value = { protocol: textAt(port, 'protocol'), port: numberAt(port, 'port') };
      errors.push(duplicate(`spec.ports[${i}]`, value));
    }
    taken.add(key);
  }
  return errors;
}

function validatePort(port: JsonObject, path: string, needsName: boolean, names: Set<string>): FieldError[] {
  const errors: FieldError[] = [];
  const name = textAt(port, 'name');
  if (name === '') {
    if (needsName) errors.push(required(`${path}.name`));
  } else {
    errors.push(...invalidFor(`${path}.name`, name, dnsLabelFaults(name)));
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
  }
  const number = numberAt(port, 'port');
  errors.push(...invalidFor(`${path}.port`, number, portFaults(number)));
  errors.push(...oneOf(`${path}.protocol`, textAt(port, 'protocol'), PROTOCOLS));
  errors.push(...validatePortOrName(port['targetPort'], `${path}.targetPort`));
  if (!isAbsent(port, 'appProtocol')) {
    const application = textAt(port, 'appProtocol');
    errors.push(...invalidFor(`${path}.appProtocol`, application, qualifiedNameFaults(application)));
  }
  return errors;
}

const LONGEST_AFFINITY = 86400;

function validateAffinity(spec: JsonObject): FieldError[] {
  const affinity = textAt(spec, 'sessionAffinity');
  const config = objectAt(spec, 'sessionAffinityConfig');
  const path = 'spec.sessionAffinityConfig';
  if (affinity === '') return [required('spec.sessionAffinity')];
  if (affinity === 'None') {
    return config === undefined ? [] : [forbiddenField(path, 'must not be set when session affinity is None')];
  }
  if (affinity !== 'ClientIP') return [unsupported('spec.sessionAffinity', affinity, ['ClientIP', 'None'])];
  const seconds = optionalNumberAt(objectAt(config, 'clientIP'), 'timeoutSeconds') ?? 0;
  if (seconds > 0 && seconds <= LONGEST_AFFINITY) return [];
  const detail = `must be greater than 0 and less than ${LONGEST_AFFINITY}`;
  return [invalidValue(`${path}.clientIP.timeoutSeconds`, seconds, detail)];
}

function validateExternalIps(spec: JsonObject, before: JsonObject | undefined): FieldError[] {
  const known = new Set(textsAt(before, 'externalIPs'));
  return textsAt(spec, 'externalIPs').flatMap((address, i) => {
    const path = `spec.externalIPs[${i}]`;
    const faults = known.has(address) ? [] : validateIp(address, path);
    return faults.length > 0 ? faults : validateEndpointIp(address, path);
  });
}

function validateNodePorts(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const taken = new Set<string>();
  for (const [i, port] of objectsAt(spec, 'ports').entries()) {
    const nodePort = numberAt(port, 'nodePort');
    if (nodePort === 0) continue;
    const path = `spec.ports[${i}].nodePort`;
    if (textAt(spec, 'type') === 'ClusterIP') {
      errors.push(forbiddenField(path, "may not be used when `type` is 'ClusterIP'"));
    }
    const key = `${textAt(port, 'protocol')}/${nodePort}`;
    if (taken.has(key)) errors.push(duplicate(path, nodePort));
    taken.add(key);
  }
  return errors;
}

const ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'";
const RANGES_ANNOTATION = 'service.beta.kubernetes.io/load-balancer-source-ranges';

function validateSourceRanges(service: JsonObject, old: JsonObject | undefined): FieldError[] {
  const spec = specOf(service);
  const isBalanced = textAt(spec, 'type') === 'LoadBalancer';
  const ranges = textsAt(spec, 'loadBalancerSourceRanges');
  if (ranges.length > 0) {
    const path = 'spec.LoadBalancerSourceRanges';
    const known = new Set(
      old === undefined ? [] : textsAt(specOf(old), 'loadBalancerSourceRanges').map((at) => at.trim()),
    );
    return [
      ...(isBalanced ? [] : [forbiddenField(path, ONLY_BALANCED)]),
      ...ranges.flatMap((range, i) => (known.has(range.trim()) ? [] : validateCidr(range.trim(), `${path}[${i}]`))),
    ];
  }
  const annotation = textMapAt(metadataOf(service), 'annotations').get(RANGES_ANNOTATION);
  if (annotation === undefined) return [];
  const path = `metadata.annotations[${RANGES_ANNOTATION}]`;
  const known = old && textMapAt(metadataOf(old), 'annotations').get(RANGES_ANNOTATION);
  const listed = known === annotation || annotation.trim() === '' ? [] : annotation.split(',');
  return [
    ...(isBalanced ? [] : [forbiddenField(path, ONLY_BALANCED)]),
    ...listed.flatMap((range) => validateCidr(range.trim(), path)),
  ];
}

function validateLoadBalancerFields(spec: JsonObject): FieldError[] {
  const isBalanced = textAt(spec, 'type') === 'LoadBalancer';
  const errors: FieldError[] = [];
  if (!isBalanced && !isAbsent(spec, 'allocateLoadBalancerNodePorts')) {
    errors.push(forbiddenField('spec.allocateLoadBalancerNodePorts', ONLY_BALANCED));
  }
  if (isAbsent(spec, 'loadBalancerClass')) return errors;
  if (!isBalanced) return [...errors, forbiddenField('spec.loadBalancerClass', ONLY_BALANCED)];
  const name = textAt(spec, 'loadBalancerClass');
  return [...errors, ...invalidFor('spec.loadBalancerClass', name, qualifiedNameFaults(name))];
}

const POLICIES = ['Cluster', 'Local'];

function validateTrafficPolicies(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const external = textAt(spec, 'externalTrafficPolicy');
  const path = 'spec.externalTrafficPolicy';
  if (!isExternallyAccessible(spec)) {
    if (external !== '') {
      errors.push(invalidValue(path, external, 'may only be set for externally-accessible services'));
    }
  } else errors.push(...oneOf(path, external, POLICIES));
  errors.push(...validateHealthCheckPort(spec));
  if (!isAbsent(spec, 'internalTrafficPolicy')) {
    const internal = textAt(spec, 'internalTrafficPolicy');
    if (!POLICIES.includes(internal)) errors.push(unsupported('spec.internalTrafficPolicy', internal, POLICIES));
  }
  if (!isAbsent(spec, 'trafficDistribution')) {
    const distribution = textAt(spec, 'trafficDistribution');
    if (distribution !== 'PreferClose') {
      errors.push(unsupported('spec.trafficDistribution', distribution, ['PreferClose']));
    }
  }
  return errors;
}

/** Zero means that none has been allocated yet. */
function validateHealthCheckPort(spec: JsonObject): FieldError[] {
  const port = numberAt(spec, 'healthCheckNodePort');
  if (port === 0) return [];
  const path = 'spec.healthCheckNodePort';
  if (needsHealthCheck(spec)) return invalidFor(path, port, portFaults(port));
  const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  return [invalidValue(path, port, detail)];
}

const IP_MODES = ['Proxy', 'VIP'];

function validateLoadBalancerStatus(service: JsonObject, old: JsonObject | undefined): FieldError[] {
  const ingress = objectsAt(objectAt(statusOf(service), 'loadBalancer'), 'ingress');
  const path = 'status.loadBalancer.ingress';
  if (ingress.length === 0) return [];
  if (textAt(specOf(service), 'type') !== 'LoadBalancer') {
    return [forbiddenField(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  const before = old && objectAt(statusOf(old), 'loadBalancer');
  const known = new Set(objectsAt(before, 'ingress').map((at) => textAt(at, 'ip')));
  return ingress.flatMap((at, i) => validateIngress(at, `${path}[${i}]`, known));
}

function validateIngress(ingress: JsonObject, path: string, known: ReadonlySet<string>): FieldError[] {
  const errors: FieldError[] = [];
  const ip = textAt(ingress, 'ip');
  if (ip !== '' && !known.has(ip)) errors.push(...validateIp(ip, `${path}.ip`));
  const mode = textAt(ingress, 'ipMode');
  if (isAbsent(ingress, 'ipMode')) {
    if (ip !== '') errors.push(required(`${path}.ipMode`, 'must be specified when `ip` is set'));
  } else if (ip === '') errors.push(forbiddenField(`${path}.ipMode`, 'may not be specified when `ip` is not set'));
  else if (!IP_MODES.includes(mode)) errors.push(unsupported(`${path}.ipMode`, mode, IP_MODES));
  const hostname = textAt(ingress, 'hostname');
  if (hostname === '') return errors;
  errors.push(...invalidFor(`${path}.hostname`, hostname, dnsSubdomainFaults(hostname)));
  if (validateIp(hostname, '').length === 0) {
    errors.push(invalidValue(`${path}.hostname`, hostname, 'must be a DNS name, not an IP address'));
  }
  return errors;
}
