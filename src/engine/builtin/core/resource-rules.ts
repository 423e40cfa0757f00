import type { JsonObject } from '../../../api/json.ts';
import { formatQuantity, NANOS_PER_ONE, parseQuantity, QUANTITY_FAULT, type Quantity } from '../../../api/quantity.ts';
import type { FieldError } from '../../../api/status.ts';
import { qualifiedNameFaults } from '../../../api/syntax.ts';
import { invalidFor, invalidValue, required } from '../field-errors.ts';
import { entriesAt, objectAt } from '../reading.ts';

/** How much of what a container needs, and how much it may take. */
export function validateResources(container: JsonObject, path: string): FieldError[] {
  const resources = objectAt(container, 'resources');
  const limits = new Map(entriesAt(resources, 'limits'));
  return [
    ...[...limits].flatMap(([name, amount]) => validateAmount(name, amount, `${path}.limits[${name}]`)),
    ...entriesAt(resources, 'requests').flatMap(([name, amount]) => [
      ...validateAmount(name, amount, `${path}.requests[${name}]`),
      ...validateAgainstLimit(name, parseQuantity(amount), limits, path),
    ]),
  ];
}

function validateAmount(name: string, amount: unknown, path: string): FieldError[] {
  return [...validateName(name, path), ...validateQuantity(name, amount, path)];
}

/** An amount of a resource: not negative, and whole where the resource cannot be divided. */
export function validateQuantity(name: string, amount: unknown, path: string): FieldError[] {
  const quantity = typeof amount === 'string' || typeof amount === 'number' ? parseQuantity(amount) : undefined;
  if (quantity === undefined) return [invalidValue(path, amount, QUANTITY_FAULT)];
  const text = formatQuantity(quantity);
  const errors = quantity.nanos < 0n ? [invalidValue(path, text, 'must be greater than or equal to 0')] : [];
  if (isWhole(name) && quantity.nanos % NANOS_PER_ONE !== 0n)
    errors.push(invalidValue(path, text, 'must be an integer'));
  return errors;
}

function validateAgainstLimit(
  name: string,
  request: Quantity | undefined,
  limits: ReadonlyMap<string, unknown>,
  path: string,
): FieldError[] {
  if (request === undefined) return [];
  const given = limits.get(name);
  const limit = typeof given === 'string' || typeof given === 'number' ? parseQuantity(given) : undefined;
  if (limit === undefined) {
    if (mayExceed(name) || limits.has(name)) return [];
    return [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const relation = mayExceed(name) ? 'less than or equal to' : 'equal to';
  const isFine = mayExceed(name) ? request.nanos <= limit.nanos : request.nanos === limit.nanos;
  if (isFine) return [];
  const detail = `must be ${relation} ${name} limit of ${formatQuantity(limit)}`;
  return [invalidValue(`${path}.requests`, formatQuantity(request), detail)];
}

const STANDARD = new Set([
  ...['cpu', 'memory', 'ephemeral-storage', 'storage'],
  ...['cpu', 'memory', 'ephemeral-storage', 'storage'].map((name) => `requests.${name}`),
  ...['cpu', 'memory', 'ephemeral-storage'].map((name) => `limits.${name}`),
  ...['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
]);
const OF_CONTAINERS = new Set(['cpu', 'memory', 'ephemeral-storage']);
const COUNTED = new Set([
  ...['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
]);

function validateName(name: string, path: string): FieldError[] {
  const errors = invalidFor(path, name, qualifiedNameFaults(name));
  if (!name.includes('/')) {
    if (errors.length === 0 && !STANDARD.has(name) && !isHugePages(name)) {
      errors.push(invalidValue(path, name, 'must be a standard resource type or fully qualified'));
    }
    if (!OF_CONTAINERS.has(name) && !isHugePages(name)) {
      errors.push(invalidValue(path, name, 'must be a standard resource for containers'));
    }
  } else if (!isNative(name) && !isExtended(name)) {
    errors.push(invalidValue(path, name, "doesn't follow extended resource name standard"));
  }
  return errors;
}

const isHugePages = (name: string): boolean => name.startsWith('hugepages-') || name.startsWith('requests.hugepages-');
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
const mayExceed = (name: string): boolean => isNative(name) && !name.startsWith('hugepages-');
const isWhole = (name: string): boolean => COUNTED.has(name) || isExtended(name);

function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith('requests.') && qualifiedNameFaults(`requests.${name}`).length === 0;
}
