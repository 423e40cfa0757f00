import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { dnsLabelFaults } from '../../../api/syntax.ts';
import { duplicate, forbiddenField, invalidFor, missing, oneOf, required, unsupported } from '../field-errors.ts';
import { isAbsent, numberAt, objectAt, objectsAt, optionalNumberAt, textAt } from '../reading.ts';
import { validateEnv } from './env-rules.ts';
import { validateDevices, validateMounts } from './mount-rules.ts';
import { PROTOCOLS, portFaults, portNameFaults } from './ports.ts';
import { validateLifecycle, validateProbes } from './probe-rules.ts';
import { validateResources } from './resource-rules.ts';
import { validateContainerSecurity } from './security-rules.ts';
import type { Volumes } from './volume-rules.ts';

export function validateContainers(spec: JsonObject, volumes: Volumes, path: string): FieldError[] {
  const containers = objectsAt(spec, 'containers');
  if (containers.length === 0) return [required(path)];
  const names = new Set<string>();
  const grace = optionalNumberAt(spec, 'terminationGracePeriodSeconds');
  return [
    ...containers.flatMap((container, i) => {
      const at = `${path}[${i}]`;
      return [
        ...validateCommon(container, volumes, at),
        ...validateName(container, names, at),
        ...validateLifecycle(container, grace, `${at}.lifecycle`),
        ...validateProbes(container, at),
        ...(isAbsent(container, 'restartPolicy')
          ? []
          : [forbiddenField(`${at}.restartPolicy`, 'may not be set for non-init containers')]),
      ];
    }),
    ...validateHostPortConflicts(containers, path),
  ];
}

export function validateInitContainers(spec: JsonObject, volumes: Volumes, path: string): FieldError[] {
  const names = new Set(objectsAt(spec, 'containers').map((container) => textAt(container, 'name')));
  const grace = optionalNumberAt(spec, 'terminationGracePeriodSeconds');
  return objectsAt(spec, 'initContainers').flatMap((container, i) => {
    const at = `${path}[${i}]`;
    return [
      ...validateCommon(container, volumes, at),
      ...validateInitPolicy(container, `${at}.restartPolicy`),
      ...validateName(container, names, at),
      // Init containers run one after another, so each may use the same host port.
      ...validateHostPortConflicts([container], path),
      ...(container['restartPolicy'] === 'Always'
        ? [...validateLifecycle(container, grace, `${at}.lifecycle`), ...validateProbes(container, at)]
        : ONLY_FOR_SIDECARS.filter((field) => objectAt(container, field) !== undefined).map((field) =>
            forbiddenField(`${at}.${field}`, 'may not be set for init containers without restartPolicy=Always'),
          )),
    ];
  });
}

const ONLY_FOR_SIDECARS = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'];

function validateInitPolicy(container: JsonObject, path: string): FieldError[] {
  const policy = textAt(container, 'restartPolicy');
  return isAbsent(container, 'restartPolicy') || policy === 'Always' ? [] : [unsupported(path, policy, ['Always'])];
}

export function validateEphemeralContainers(spec: JsonObject, volumes: Volumes, path: string): FieldError[] {
  const others = new Set(
    [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')].map((at) => textAt(at, 'name')),
  );
  const names = new Set(others);
  return objectsAt(spec, 'ephemeralContainers').flatMap((container, i) => {
    const at = `${path}[${i}]`;
    const target = textAt(container, 'targetContainerName');
    return [
      ...validateCommon(container, volumes, at),
      ...validateName(container, names, at),
      ...(target === '' || others.has(target) ? [] : [missing(`${at}.targetContainerName`, target)]),
      ...NOT_EPHEMERAL.filter((field) => isUsed(container, field)).map((field) =>
        forbiddenField(`${at}.${field}`, 'cannot be set for an Ephemeral Container'),
      ),
    ];
  });
}

const NOT_EPHEMERAL = [
  'ports',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'resources',
  'restartPolicy',
];

function isUsed(container: JsonObject, field: string): boolean {
  const value = container[field];
  return value !== undefined && value !== null && (typeof value !== 'object' || Object.keys(value).length > 0);
}

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];

/** What holds for containers of every sort. */
function validateCommon(container: JsonObject, volumes: Volumes, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const name = textAt(container, 'name');
  if (name === '') errors.push(required(`${path}.name`));
  else errors.push(...invalidFor(`${path}.name`, name, dnsLabelFaults(name)));
  if (textAt(container, 'image') === '') errors.push(required(`${path}.image`));
  return [
    ...errors,
    ...oneOf(`${path}.terminationMessagePolicy`, textAt(container, 'terminationMessagePolicy'), MESSAGE_POLICIES),
    ...validatePorts(container, `${path}.ports`),
    ...validateEnv(container, path),
    ...validateMounts(container, volumes, `${path}.volumeMounts`),
    ...validateDevices(container, volumes, `${path}.volumeDevices`),
    ...oneOf(`${path}.imagePullPolicy`, textAt(container, 'imagePullPolicy'), PULL_POLICIES),
    ...validateResources(container, `${path}.resources`),
    ...validateContainerSecurity(container, `${path}.securityContext`),
  ];
}

function validateName(container: JsonObject, names: Set<string>, path: string): FieldError[] {
  const name = textAt(container, 'name');
  const isTaken = names.has(name);
  names.add(name);
  return isTaken ? [duplicate(`${path}.name`, name)] : [];
}

function validatePorts(container: JsonObject, path: string): FieldError[] {
  const names = new Set<string>();
  return objectsAt(container, 'ports').flatMap((port, i) => {
    const at = `${path}[${i}]`;
    const errors: FieldError[] = [];
    const name = textAt(port, 'name');
    if (name !== '') {
      errors.push(...invalidFor(`${at}.name`, name, portNameFaults(name)));
      if (errors.length === 0 && names.has(name)) errors.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    const number = numberAt(port, 'containerPort');
    if (number === 0) errors.push(required(`${at}.containerPort`));
    else errors.push(...invalidFor(`${at}.containerPort`, number, portFaults(number)));
    const hostPort = numberAt(port, 'hostPort');
    if (hostPort !== 0) errors.push(...invalidFor(`${at}.hostPort`, hostPort, portFaults(hostPort)));
    return [...errors, ...oneOf(`${at}.protocol`, textAt(port, 'protocol'), PROTOCOLS)];
  });
}

function validateHostPortConflicts(containers: readonly JsonObject[], path: string): FieldError[] {
  const taken = new Set<string>();
  return containers.flatMap((container, i) =>
    objectsAt(container, 'ports').flatMap((port, j) => {
      const number = numberAt(port, 'hostPort');
      if (number === 0) return [];
      const key = `${textAt(port, 'protocol')}/${textAt(port, 'hostIP')}/${number}`;
      const isTaken = taken.has(key);
      taken.add(key);
      return isTaken ? [duplicate(`${path}[${i}].ports[${j}].hostPort`, key)] : [];
    }),
  );
}
