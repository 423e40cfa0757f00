import { equalJson, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { dns1035LabelFaults, dnsSubdomainFaults } from '../../../api/syntax.ts';
import { forbiddenField, IMMUTABLE, invalidValue, oneOf, required } from '../field-errors.ts';
import {
  flagAt,
  isAbsent,
  metadataOf,
  nameOf,
  objectAt,
  objectsAt,
  specOf,
  statusOf,
  textAt,
  textMapAt,
  textsAt,
} from '../reading.ts';
import { validateVersion } from './version-rules.ts';

/** A CustomResourceDefinition, but for the insides of its schemas. */
export function validateDefinition(definition: JsonObject, old: JsonObject | undefined): FieldError[] {
  const spec = specOf(definition);
  return [
    ...(old === undefined ? validateName(definition) : []),
    ...validateGroup(spec),
    ...validateScope(spec),
    ...validateVersions(spec),
    ...validateSpecNames(spec),
    ...validateConversion(objectAt(spec, 'conversion'), 'spec.conversion'),
    ...(old === undefined ? [] : validateChange(definition, old)),
    ...validateNames(objectAt(statusOf(definition), 'acceptedNames') ?? {}, 'status.acceptedNames'),
    ...validateStoredVersions(definition),
    ...validateApproval(definition, old),
    ...validatePreserving(spec),
  ];
}

function validateName(definition: JsonObject): FieldError[] {
  const spec = specOf(definition);
  const name = nameOf(definition);
  if (name === `${textAt(objectAt(spec, 'names'), 'plural')}.${textAt(spec, 'group')}`) return [];
  return [invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group')];
}

function validateGroup(spec: JsonObject): FieldError[] {
  const group = textAt(spec, 'group');
  if (group === '') return [required('spec.group')];
  const faults = dnsSubdomainFaults(group);
  if (faults.length > 0) return [invalidValue('spec.group', group, faults.join(','))];
  return group.includes('.') ? [] : [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
}

const SCOPES = ['Cluster', 'Namespaced'];

function validateScope(spec: JsonObject): FieldError[] {
  return oneOf('spec.scope', textAt(spec, 'scope'), SCOPES);
}

function validateVersions(spec: JsonObject): FieldError[] {
  const versions = objectsAt(spec, 'versions');
  const names = new Set(versions.map((version) => textAt(version, 'name')));
  const errors = versions.flatMap((version, i) => validateVersion(version, `spec.versions[${i}]`));
  if (names.size < versions.length) {
    errors.push(invalidValue('spec.versions', [...names], 'must contain unique version names'));
  }
  if (versions.filter((version) => flagAt(version, 'storage')).length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    errors.push(invalidValue('spec.versions', [...names], detail));
  }
  return errors;
}

function validateSpecNames(spec: JsonObject): FieldError[] {
  const names = objectAt(spec, 'names') ?? {};
  const needed = ['plural', 'singular', 'kind', 'listKind'].filter((field) => textAt(names, field) === '');
  return [...needed.map((field) => required(`spec.names.${field}`)), ...validateNames(names, 'spec.names')];
}

function validateNames(names: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['plural', 'singular']) {
    const name = textAt(names, field);
    const faults = name === '' ? [] : dns1035LabelFaults(name);
    if (faults.length > 0) errors.push(invalidValue(`${path}.${field}`, name, faults.join(',')));
  }
  for (const field of ['kind', 'listKind']) {
    const name = textAt(names, field);
    const faults = name === '' ? [] : dns1035LabelFaults(name.toLowerCase());
    if (faults.length === 0) continue;
    const detail = `may have mixed case, but should otherwise match: ${faults.join(',')}`;
    errors.push(invalidValue(`${path}.${field}`, name, detail));
  }
  const kind = textAt(names, 'kind');
  if (kind !== '' && kind === textAt(names, 'listKind')) {
    errors.push(invalidValue(`${path}.listKind`, kind, 'kind and listKind may not be the same'));
  }
  return [...errors, ...['shortNames', 'categories'].flatMap((field) => validateLabelList(names, field, path))];
}

const validateLabelList = (names: JsonObject, field: string, path: string): FieldError[] =>
  textsAt(names, field).flatMap((name, i) => {
    const faults = dns1035LabelFaults(name);
    return faults.length === 0 ? [] : [invalidValue(`${path}.${field}[${i}]`, name, faults.join(','))];
  });

const STRATEGIES = ['None', 'Webhook'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];

function validateConversion(conversion: JsonObject | undefined, path: string): FieldError[] {
  if (conversion === undefined) return [];
  const strategy = textAt(conversion, 'strategy');
  const webhook = objectAt(conversion, 'webhook');
  if (!STRATEGIES.includes(strategy)) return oneOf(`${path}.strategy`, strategy, STRATEGIES);
  if (strategy === 'Webhook') return validateWebhook(webhook, path);
  if (webhook === undefined) return [];
  return ['clientConfig', 'conversionReviewVersions']
    .filter((field) => !isAbsent(webhook, field))
    .map((field) =>
      forbiddenField(
        `${path}.${field === 'clientConfig' ? 'webhookClientConfig' : field}`,
        'should not be set when strategy is not set to Webhook',
      ),
    );
}

function validateWebhook(webhook: JsonObject | undefined, path: string): FieldError[] {
  const client = objectAt(webhook, 'clientConfig');
  const clientPath = `${path}.webhookClientConfig`;
  const errors: FieldError[] = [];
  if (client === undefined) errors.push(required(clientPath, 'required when strategy is set to Webhook'));
  else if (isAbsent(client, 'url') === isAbsent(client, 'service')) {
    errors.push(required(clientPath, 'exactly one of url or service is required'));
  }
  const versions = textsAt(webhook, 'conversionReviewVersions');
  const versionsPath = `${path}.conversionReviewVersions`;
  if (versions.length === 0) errors.push(required(versionsPath));
  else if (!versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    errors.push(invalidValue(versionsPath, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return errors;
}

function validateChange(definition: JsonObject, old: JsonObject): FieldError[] {
  const [spec, before] = [specOf(definition), specOf(old)];
  const [names, namesBefore] = [objectAt(spec, 'names'), objectAt(before, 'names')];
  const errors: FieldError[] = [];
  const fixed = (path: string, now: string, then: string): void => {
    if (now !== then) errors.push(invalidValue(path, now, IMMUTABLE));
  };
  const isEstablished = objectsAt(statusOf(old), 'conditions').some(
    (condition) => condition['type'] === 'Established' && condition['status'] === 'True',
  );
  if (isEstablished) {
    // Objects may be stored by now.
    fixed('spec.scope', textAt(spec, 'scope'), textAt(before, 'scope'));
    fixed('spec.names.kind', textAt(names, 'kind'), textAt(namesBefore, 'kind'));
  }
  fixed('spec.group', textAt(spec, 'group'), textAt(before, 'group'));
  fixed('spec.names.plural', textAt(names, 'plural'), textAt(namesBefore, 'plural'));
  return errors;
}

function validateStoredVersions(definition: JsonObject): FieldError[] {
  const path = 'status.storedVersions';
  const stored = textsAt(statusOf(definition), 'storedVersions');
  if (stored.length === 0) return [invalidValue(path, stored, 'must have at least one stored version')];
  const versions = objectsAt(specOf(definition), 'versions');
  const known = new Set(versions.map((version) => textAt(version, 'name')));
  const all = new Set(stored);
  return [
    ...versions
      .filter((version) => flagAt(version, 'storage') && !all.has(textAt(version, 'name')))
      .map((version) => invalidValue(path, stored, `must have the storage version ${textAt(version, 'name')}`)),
    ...stored.flatMap((name, i) => (known.has(name) ? [] : [invalidValue(`${path}[${i}]`, name, stillNeeded(name))])),
  ];
}

const stillNeeded = (name: string): string =>
  `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;

const APPROVAL = 'api-approved.kubernetes.io';

/** The groups of the Kubernetes community are for APIs that it has approved. */
function validateApproval(definition: JsonObject, old: JsonObject | undefined): FieldError[] {
  const group = `.${textAt(specOf(definition), 'group')}`;
  if (!group.endsWith('.k8s.io') && !group.endsWith('.kubernetes.io')) return [];
  const approval = (of: JsonObject): string => textMapAt(metadataOf(of), 'annotations').get(APPROVAL) ?? '';
  const now = approval(definition);
  if (isApproved(now) || (old !== undefined && equalJson(approval(old), now))) return [];
  const path = `metadata.annotations[${APPROVAL}]`;
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  const must = `protected groups must have approval annotation "${APPROVAL}"`;
  if (now === '') return [required(path, `${must}, ${see}`)];
  return [invalidValue(path, now, `${must} with either a URL or a reason starting with "unapproved", ${see}`)];
}

const isApproved = (approval: string): boolean =>
  approval.startsWith('unapproved') || /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+/i.test(approval);

function validatePreserving(spec: JsonObject): FieldError[] {
  if (!flagAt(spec, 'preserveUnknownFields')) return [];
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [invalidValue('spec.preserveUnknownFields', true, detail)];
}
