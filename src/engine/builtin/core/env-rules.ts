import type { JsonObject } from '../../../api/json.ts';
import { formatQuantity, parseQuantity } from '../../../api/quantity.ts';
import type { FieldError } from '../../../api/status.ts';
import { dnsSubdomainFaults, qualifiedNameFaults } from '../../../api/syntax.ts';
import { invalidFor, invalidValue, required, unsupported } from '../field-errors.ts';
import { objectAt, objectsAt, textAt } from '../reading.ts';
import { dataKeyFaults } from './data-keys.ts';

export const validateEnv = (container: JsonObject, path: string): FieldError[] => [
  ...objectsAt(container, 'env').flatMap((variable, i) => validateVariable(variable, `${path}.env[${i}]`)),
  ...objectsAt(container, 'envFrom').flatMap((source, i) => validateSource(source, `${path}.envFrom`, i)),
];

/** What no environment of a process can hold. */
const variableNameFaults = (name: string): string[] =>
  /^[ -<>-~]+$/.test(name)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

function validateVariable(variable: JsonObject, path: string): FieldError[] {
  const name = textAt(variable, 'name');
  const errors = name === '' ? [required(`${path}.name`)] : invalidFor(`${path}.name`, name, variableNameFaults(name));
  const from = objectAt(variable, 'valueFrom');
  if (from === undefined) return errors;
  return [...errors, ...validateValueFrom(from, textAt(variable, 'value'), `${path}.valueFrom`)];
}

const FIELDS_OF_ENV = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

function validateValueFrom(from: JsonObject, value: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let sources = 0;
  const field = objectAt(from, 'fieldRef');
  if (field !== undefined) {
    sources++;
    errors.push(...validateFieldRef(field, FIELDS_OF_ENV, `${path}.fieldRef`));
  }
  const resource = objectAt(from, 'resourceFieldRef');
  if (resource !== undefined) {
    sources++;
    errors.push(...validateResourceRef(resource, `${path}.resourceFieldRef`));
  }
  for (const kind of ['configMapKeyRef', 'secretKeyRef']) {
    const selector = objectAt(from, kind);
    if (selector === undefined) continue;
    sources++;
    errors.push(...validateKeySelector(selector, `${path}.${kind}`));
  }
  const fault =
    sources === 0
      ? 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'
      : value !== ''
        ? 'may not be specified when `value` is not empty'
        : sources > 1
          ? 'may not have more than one field specified at a time'
          : undefined;
  return fault === undefined ? errors : [...errors, invalidValue(path, '', fault)];
}

function validateSource(source: JsonObject, path: string, index: number): FieldError[] {
  const at = `${path}[${index}]`;
  const prefix = textAt(source, 'prefix');
  const errors = prefix === '' ? [] : invalidFor(`${at}.prefix`, prefix, variableNameFaults(prefix));
  const given = ['configMapRef', 'secretRef'].filter((kind) => objectAt(source, kind) !== undefined);
  for (const kind of given) {
    const name = textAt(objectAt(source, kind), 'name');
    if (name === '') errors.push(required(`${at}.${kind}.name`));
    else errors.push(...invalidFor(`${at}.${kind}.name`, name, dnsSubdomainFaults(name)));
  }
  if (given.length === 0) {
    errors.push(invalidValue(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
  } else if (given.length > 1) {
    errors.push(invalidValue(path, '', 'may not have more than one field specified at a time'));
  }
  return errors;
}

function validateKeySelector(selector: JsonObject, path: string): FieldError[] {
  const name = textAt(selector, 'name');
  const key = textAt(selector, 'key');
  return [
    ...invalidFor(`${path}.name`, name, dnsSubdomainFaults(name)),
    ...(key === '' ? [required(`${path}.key`)] : invalidFor(`${path}.key`, key, dataKeyFaults(key))),
  ];
}

const FIELDS_OF_PODS = new Set([
  ...FIELDS_OF_ENV,
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

/** A field of the pod itself, of those that can be told to a container. */
export function validateFieldRef(field: JsonObject, known: readonly string[], path: string): FieldError[] {
  const apiVersion = textAt(field, 'apiVersion');
  const text = textAt(field, 'fieldPath');
  if (apiVersion === '') return [required(`${path}.apiVersion`)];
  if (text === '') return [required(`${path}.fieldPath`)];
  const wrong = (fault: string): FieldError[] => [
    invalidValue(`${path}.fieldPath`, text, `error converting fieldPath: ${fault}`),
  ];
  if (apiVersion !== 'v1') return wrong(`unsupported pod version: ${apiVersion}`);
  const [, base = '', key = ''] = /^([^[]*)\['(.*)'\]$/s.exec(text) ?? [];
  if (base !== '') {
    if (base === 'metadata.annotations') return invalidFor(path, key, qualifiedNameFaults(key.toLowerCase()));
    if (base === 'metadata.labels') return invalidFor(path, key, qualifiedNameFaults(key));
    return wrong(`field label does not support subscript: ${text}`);
  }
  const name = text === 'spec.host' ? 'spec.nodeName' : text;
  if (!FIELDS_OF_PODS.has(name)) return wrong(`field label not supported: ${text}`);
  return known.includes(name) ? [] : [unsupported(`${path}.fieldPath`, name, [...known].sort())];
}

const AMOUNTS = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** An amount of a container's resources, in units of a divisor. */
export function validateResourceRef(field: JsonObject, path: string, needsContainer = false): FieldError[] {
  const resource = textAt(field, 'resource');
  if (needsContainer && textAt(field, 'containerName') === '') return [required(`${path}.containerName`)];
  if (resource === '') return [required(`${path}.resource`)];
  if (!AMOUNTS.includes(resource) && !/^(?:limits|requests)\.hugepages-/.test(resource)) {
    return [unsupported(`${path}.resource`, resource, AMOUNTS)];
  }
  const divisor = parseQuantity(field['divisor']);
  if (divisor === undefined || divisor.nanos === 0n) return [];
  const unit = formatQuantity(divisor);
  if (resource.endsWith('.cpu')) {
    if (unit === '1' || unit === '1m') return [];
    const detail = "only divisor's values 1m and 1 are supported with the cpu resource";
    return [invalidValue(`${path}.divisor`, resource, detail)];
  }
  if (DIVISORS.includes(unit)) return [];
  const name = resource.endsWith('.memory')
    ? 'memory'
    : resource.endsWith('.ephemeral-storage')
      ? 'local ephemeral storage'
      : 'hugepages';
  const detail = `only divisor's values ${DIVISORS.join(', ')} are supported with the ${name} resource`;
  return [invalidValue(`${path}.divisor`, resource, detail)];
}
