import { equalJson, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { labelValueFaults, qualifiedNameFaults } from '../../../api/syntax.ts';
import { defineBuiltin, statusSubresource } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn, wideColumn } from '../columns.ts';
import { duplicate, forbiddenField, invalidFor, invalidValue, required, unsupported } from '../field-errors.ts';
import { isDualStack, validateCidr } from '../ip-text.ts';
import {
  entriesAt,
  flagAt,
  isAbsent,
  metadataOf,
  objectAt,
  objectMadeAt,
  objectsAt,
  specOf,
  statusOf,
  textAt,
  textMapAt,
  textsAt,
} from '../reading.ts';
import { validateQuantity } from './resource-rules.ts';
import { TAINT_EFFECTS } from './scheduling-rules.ts';

const of = { group: '', version: 'v1', kind: 'Node' };

export const nodes = defineBuiltin({
  ...of,
  plural: 'nodes',
  shortNames: ['no'],
  namespaced: false,
  subresources: [
    {
      name: 'proxy',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      responseKind: { group: '', version: 'v1', kind: 'NodeProxyOptions' },
    },
    statusSubresource(of),
  ],
  qualifiedFinalizers: true,
  // Whoever registers a node says at once what it is.
  statusOnCreate: true,
  columns: [
    nameColumn,
    column('Status', { description: 'Whether the node is ready, and whether pods may be placed on it.' }, status),
    column('Roles', { description: 'Roles of the node, by its labels.' }, roles),
    ageColumn,
    column('Version', { description: 'Version of the agent on the node.' }, (node) => infoOf(node, 'kubeletVersion')),
    wideColumn('Internal-IP', 'Address inside the cluster.', (node) => addressOf(node, 'InternalIP')),
    wideColumn('External-IP', 'Address outside the cluster.', (node) => addressOf(node, 'ExternalIP')),
    wideColumn('OS-Image', 'Operating system.', (node) => infoOf(node, 'osImage') || UNKNOWN),
    wideColumn('Kernel-Version', 'Kernel.', (node) => infoOf(node, 'kernelVersion') || UNKNOWN),
    wideColumn(
      'Container-Runtime',
      'What runs the containers.',
      (node) => infoOf(node, 'containerRuntimeVersion') || UNKNOWN,
    ),
  ],
  selectableFields: { 'spec.unschedulable': (node) => String(flagAt(specOf(node), 'unschedulable')) },

  defaults(node) {
    const status = objectMadeAt(node, 'status');
    const capacity = objectAt(status, 'capacity');
    // All that a node has can be handed out, unless it says otherwise.
    if (capacity !== undefined && isAbsent(status, 'allocatable')) status['allocatable'] = structuredClone(capacity);
    matchPodCidrs(objectMadeAt(node, 'spec'));
  },

  validate(node, old) {
    return [
      ...validateTaints(specOf(node)),
      ...validateAmounts(statusOf(node)),
      ...(old === undefined ? validatePodCidrs(specOf(node)) : validateChange(node, old)),
    ];
  },
});

const UNKNOWN = '<unknown>';

function status(node: JsonObject): string {
  const ready = objectsAt(statusOf(node), 'conditions').findLast((condition) => condition['type'] === 'Ready');
  const word = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return flagAt(specOf(node), 'unschedulable') ? `${word},SchedulingDisabled` : word;
}

const ROLE_PREFIX = 'node-role.kubernetes.io/';

function roles(node: JsonObject): string {
  const found = new Set<string>();
  for (const [key, value] of textMapAt(metadataOf(node), 'labels')) {
    if (key.startsWith(ROLE_PREFIX)) found.add(key.slice(ROLE_PREFIX.length));
    else if (key === 'kubernetes.io/role') found.add(value);
  }
  found.delete('');
  return [...found].sort().join(',') || '<none>';
}

const infoOf = (node: JsonObject, field: string): string => textAt(objectAt(statusOf(node), 'nodeInfo'), field);

function addressOf(node: JsonObject, type: string): string {
  const found = objectsAt(statusOf(node), 'addresses').find((address) => address['type'] === type);
  return found === undefined ? '<none>' : textAt(found, 'address');
}

/** `podCIDR` is the first of `podCIDRs`; where they differ, the older field counts. */
function matchPodCidrs(spec: JsonObject): void {
  const one = textAt(spec, 'podCIDR');
  const [first] = textsAt(spec, 'podCIDRs');
  if (one !== '' && one !== first) spec['podCIDRs'] = [one];
  else if (one === '' && first !== undefined) spec['podCIDR'] = first;
}

function validateTaints(spec: JsonObject): FieldError[] {
  const seen = new Set<string>();
  // The path is that of kube-apiserver, though taints stand in the spec.
  return objectsAt(spec, 'taints').flatMap((taint, i) => {
    const path = `metadata.taints[${i}]`;
    const key = textAt(taint, 'key');
    const value = textAt(taint, 'value');
    const effect = textAt(taint, 'effect');
    const errors = invalidFor(`${path}.key`, key, qualifiedNameFaults(key));
    const faults = labelValueFaults(value);
    if (faults.length > 0) errors.push(invalidValue(`${path}.value`, value, faults.join(';')));
    if (effect === '') errors.push(required(`${path}.effect`));
    else if (!TAINT_EFFECTS.includes(effect)) errors.push(unsupported(`${path}.effect`, effect, TAINT_EFFECTS));
    const pair = `${key}:${effect}`;
    if (seen.has(pair)) errors.push(duplicate(path, taint, 'taints must be unique by key and effect pair'));
    seen.add(pair);
    return errors;
  });
}

const validateAmounts = (status: JsonObject): FieldError[] =>
  ['capacity', 'allocatable'].flatMap((field) =>
    entriesAt(status, field).flatMap(([name, amount]) => validateQuantity(name, amount, `status.${field}.${name}`)),
  );

function validatePodCidrs(spec: JsonObject): FieldError[] {
  const ranges = textsAt(spec, 'podCIDRs');
  const errors = ranges.flatMap((range, i) => validateCidr(range, `spec.podCIDRs[${i}]`));
  if (ranges.length > 1 && !isDualStack(ranges.map((range) => range.split('/', 1)[0] ?? ''))) {
    errors.push(invalidValue('spec.podCIDRs', ranges, 'may specify no more than one CIDR for each IP family'));
  }
  return errors;
}

function validateChange(node: JsonObject, old: JsonObject): FieldError[] {
  const [spec, before] = [specOf(node), specOf(old)];
  const errors: FieldError[] = [];
  const onlyOnce = (field: string, name: string): void => {
    errors.push(forbiddenField(`spec.${field}`, `node updates may not change ${name} except from "" to valid`));
  };
  const ranges = textsAt(before, 'podCIDRs');
  if (ranges.length > 0 && !equalJson(ranges, textsAt(spec, 'podCIDRs'))) onlyOnce('podCIDRs', 'podCIDR');
  const provider = textAt(before, 'providerID');
  if (provider !== '' && provider !== textAt(spec, 'providerID')) onlyOnce('providerID', 'providerID');
  const seen = new Set<string>();
  for (const [i, address] of objectsAt(statusOf(node), 'addresses').entries()) {
    const key = `${textAt(address, 'type')}:${textAt(address, 'address')}`;
    if (seen.has(key)) errors.push(duplicate(`status.addresses[${i}]`, address));
    seen.add(key);
  }
  return ranges.length > 0 ? errors : [...errors, ...validatePodCidrs(spec)];
}
