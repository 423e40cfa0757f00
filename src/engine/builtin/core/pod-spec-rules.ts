import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { dnsLabelFaults, dnsSubdomainFaults, qualifiedNameFaults } from '../../../api/syntax.ts';
import { duplicate, invalidFor, invalidValue, oneOf, required, unsupported } from '../field-errors.ts';
import { validateIp } from '../ip-text.ts';
import { validateLabels } from '../metadata.ts';
import { flagAt, isAbsent, numberAt, objectAt, objectsAt, optionalNumberAt, textAt, textsAt } from '../reading.ts';
import { validateContainers, validateEphemeralContainers, validateInitContainers } from './container-rules.ts';
import { validateAffinity, validateTolerations, validateTopologySpread } from './scheduling-rules.ts';
import { validatePodSecurity } from './security-rules.ts';
import { validateVolumes } from './volume-rules.ts';

/** The spec of a pod, or of a template of pods. */
export function validatePodSpec(spec: JsonObject, path: string): FieldError[] {
  const [volumes, volumeErrors] = validateVolumes(spec, `${path}.volumes`);
  return [
    ...volumeErrors,
    ...validateContainers(spec, volumes, `${path}.containers`),
    ...validateInitContainers(spec, volumes, `${path}.initContainers`),
    ...validateEphemeralContainers(spec, volumes, `${path}.ephemeralContainers`),
    ...validateHostPorts(spec, path),
    ...oneOf(`${path}.restartPolicy`, textAt(spec, 'restartPolicy'), RESTART_POLICIES),
    ...oneOf(`${path}.dnsPolicy`, textAt(spec, 'dnsPolicy'), DNS_POLICIES),
    ...validateLabels(spec['nodeSelector'], `${path}.nodeSelector`),
    ...validatePodSecurity(spec, path),
    ...validateAffinity(spec, `${path}.affinity`),
    ...validateDnsConfig(spec, `${path}.dnsConfig`),
    ...validateReadinessGates(spec, `${path}.readinessGates`),
    ...validateSchedulingGates(spec, `${path}.schedulingGates`),
    ...validateTopologySpread(spec, `${path}.topologySpreadConstraints`),
    ...validateNames(spec, path),
    ...validateTolerations(spec, `${path}.tolerations`),
    ...validateHostAliases(spec, `${path}.hostAliases`),
  ];
}

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

/** On the host's network a container's port is the host's port: nothing maps the one to the other. */
function validateHostPorts(spec: JsonObject, path: string): FieldError[] {
  if (!flagAt(spec, 'hostNetwork')) return [];
  return objectsAt(spec, 'containers').flatMap((container, i) =>
    objectsAt(container, 'ports').flatMap((port, j) => {
      const hostPort = numberAt(port, 'hostPort');
      if (hostPort === numberAt(port, 'containerPort') || hostPort === 0) return [];
      const detail = 'must match `containerPort` when `hostNetwork` is true';
      return [invalidValue(`${path}.containers[${i}].ports[${j}].hostPort`, hostPort, detail)];
    }),
  );
}

const MOST_NAMESERVERS = 3;
const MOST_SEARCHES = 32;
const LONGEST_SEARCH_LIST = 2048;

function validateDnsConfig(spec: JsonObject, path: string): FieldError[] {
  const config = objectAt(spec, 'dnsConfig');
  const nameservers = textsAt(config, 'nameservers');
  if (spec['dnsPolicy'] === 'None') {
    if (config === undefined) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (nameservers.length === 0) {
      return [required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')];
    }
  }
  const searches = textsAt(config, 'searches');
  const errors: FieldError[] = [];
  if (nameservers.length > MOST_NAMESERVERS) {
    const detail = `must not have more than ${MOST_NAMESERVERS} nameservers`;
    errors.push(invalidValue(`${path}.nameservers`, nameservers, detail));
  }
  if (searches.length > MOST_SEARCHES) {
    const detail = `must not have more than ${MOST_SEARCHES} search paths`;
    errors.push(invalidValue(`${path}.searches`, searches, detail));
  }
  if (searches.join(' ').length > LONGEST_SEARCH_LIST) {
    const detail = `must not have more than ${LONGEST_SEARCH_LIST} characters (including spaces) in the search list`;
    errors.push(invalidValue(`${path}.searches`, searches, detail));
  }
  return [
    ...errors,
    ...nameservers.flatMap((address, i) => validateIp(address, `${path}.nameservers[${i}]`)),
    ...searches.flatMap((search, i) => validateSearch(search, `${path}.searches[${i}]`)),
    ...objectsAt(config, 'options').flatMap((option, i) =>
      textAt(option, 'name') === '' ? [required(`${path}.options[${i}]`, 'must not be empty')] : [],
    ),
  ];
}

/** The root alone, or a domain; underscores are allowed, as in `_tcp`. */
function validateSearch(search: string, path: string): FieldError[] {
  if (search === '.') return [];
  const domain = search.replace(/\.$/, '');
  if (domain.length <= 253 && SEARCH_DOMAIN.test(domain)) return [];
  // The words, though not the pattern, are those for domains with underscores.
  const faults = dnsSubdomainFaults(domain.replaceAll('_', '*'));
  return invalidFor(
    path,
    domain,
    faults.map((fault) => fault.replace("characters, '-' or '.',", "characters, '_', '-' or '.',")),
  );
}

const LABEL = '_?[a-z0-9](?:[-_]*[a-z0-9])*';
const SEARCH_DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

function validateReadinessGates(spec: JsonObject, path: string): FieldError[] {
  return objectsAt(spec, 'readinessGates').flatMap((gate, i) => {
    const type = textAt(gate, 'conditionType');
    return invalidFor(`${path}[${i}].conditionType`, type, qualifiedNameFaults(type));
  });
}

function validateSchedulingGates(spec: JsonObject, path: string): FieldError[] {
  const seen = new Set<string>();
  return objectsAt(spec, 'schedulingGates').flatMap((gate, i) => {
    const name = textAt(gate, 'name');
    const errors = invalidFor(`${path}[${i}]`, name, qualifiedNameFaults(name));
    if (seen.has(name)) errors.push(duplicate(`${path}[${i}]`, name));
    seen.add(name);
    return errors;
  });
}

const LARGEST_INT32 = 2 ** 31 - 1;

function validateNames(spec: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const check = (field: string, faultsOf: (name: string) => string[]): void => {
    const name = textAt(spec, field);
    if (name !== '') errors.push(...invalidFor(`${path}.${field}`, name, faultsOf(name)));
  };
  check('serviceAccountName', dnsSubdomainFaults);
  check('nodeName', dnsSubdomainFaults);
  const deadline = optionalNumberAt(spec, 'activeDeadlineSeconds');
  if (deadline !== undefined && (deadline < 1 || deadline > LARGEST_INT32)) {
    const detail = `must be between 1 and ${LARGEST_INT32}, inclusive`;
    errors.push(invalidValue(`${path}.activeDeadlineSeconds`, deadline, detail));
  }
  check('hostname', dnsLabelFaults);
  check('subdomain', dnsLabelFaults);
  check('priorityClassName', dnsSubdomainFaults);
  check('runtimeClassName', dnsSubdomainFaults);
  const preemption = textAt(spec, 'preemptionPolicy');
  if (!isAbsent(spec, 'preemptionPolicy') && !PREEMPTION.includes(preemption)) {
    errors.push(unsupported(`${path}.preemptionPolicy`, preemption, PREEMPTION));
  }
  return errors;
}

const PREEMPTION = ['PreemptLowerPriority', 'Never'];

function validateHostAliases(spec: JsonObject, path: string): FieldError[] {
  return objectsAt(spec, 'hostAliases').flatMap((alias, i) => [
    ...validateIp(textAt(alias, 'ip'), `${path}[${i}].ip`),
    ...textsAt(alias, 'hostnames').flatMap((name, j) =>
      invalidFor(`${path}[${i}].hostnames[${j}]`, name, dnsSubdomainFaults(name)),
    ),
  ]);
}
