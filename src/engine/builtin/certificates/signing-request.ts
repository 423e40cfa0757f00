import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { dnsSubdomainFaults } from '../../../api/syntax.ts';
import { defineBuiltin } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn } from '../columns.ts';
import { duplicate, forbiddenField, invalidValue, required, unsupported } from '../field-errors.ts';
import { humanDuration } from '../human-duration.ts';
import { objectsAt, optionalNumberAt, specOf, statusOf, textAt, textsAt } from '../reading.ts';
import { throughApproval, throughStatus } from './approval.ts';

const of = { group: 'certificates.k8s.io', version: 'v1', kind: 'CertificateSigningRequest' };

export const signingRequests = defineBuiltin({
  ...of,
  plural: 'certificatesigningrequests',
  shortNames: ['csr'],
  namespaced: false,
  nameRule: 'path',
  qualifiedFinalizers: false,
  subresources: [
    { name: 'approval', verbs: ['get', 'patch', 'update'], responseKind: of, write: throughApproval },
    { name: 'status', verbs: ['get', 'patch', 'update'], responseKind: of, write: throughStatus },
  ],
  columns: [
    nameColumn,
    ageColumn,
    column('SignerName', { description: 'Who is asked to sign.' }, (request) => textAt(specOf(request), 'signerName')),
    column('Requestor', { description: 'Who asks.' }, (request) => textAt(specOf(request), 'username')),
    column('RequestedDuration', { description: 'For how long the certificate is to be good.' }, (request) => {
      const seconds = optionalNumberAt(specOf(request), 'expirationSeconds');
      return seconds === undefined ? '<none>' : humanDuration(seconds * 1000);
    }),
    column('Condition', { description: 'What has become of the request.' }, outcome),
  ],
  selectableFields: { 'spec.signerName': (request) => textAt(specOf(request), 'signerName') },

  prepare(request, old) {
    // What was asked for is what people approve: it never changes.
    if (old?.['spec'] !== undefined) request['spec'] = old['spec'];
  },

  validate(request, old) {
    return [
      ...(old === undefined ? validateSpec(specOf(request)) : validateChange(request, old)),
      ...validateConditions(request),
    ];
  },
});

function outcome(request: JsonObject): string {
  const types = conditionsOf(request).map((condition) => textAt(condition, 'type'));
  const decision = types.includes('Denied') ? 'Denied' : types.includes('Approved') ? 'Approved' : 'Pending';
  const failed = types.includes('Failed') ? ',Failed' : '';
  return `${decision}${failed}${textAt(statusOf(request), 'certificate') === '' ? '' : ',Issued'}`;
}

const conditionsOf = (request: JsonObject): JsonObject[] => objectsAt(statusOf(request), 'conditions');

function validateSpec(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const text = Buffer.from(textAt(spec, 'request'), 'base64').toString('latin1');
  if (!/-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----/.test(text)) {
    errors.push(invalidValue('spec.request', textAt(spec, 'request'), 'PEM block type must be CERTIFICATE REQUEST'));
  }
  const usages = textsAt(spec, 'usages');
  if (usages.length === 0) errors.push(required('spec.usages'));
  for (const [i, usage] of usages.entries()) {
    if (!USAGES.includes(usage)) errors.push(unsupported(`spec.usages[${i}]`, usage, USAGES));
    if (usages.indexOf(usage) < i) errors.push(duplicate(`spec.usages[${i}]`, usage));
  }
  const seconds = optionalNumberAt(spec, 'expirationSeconds');
  if (seconds !== undefined && seconds < 600) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
    errors.push(invalidValue('spec.expirationSeconds', seconds, detail));
  }
  return [...errors, ...validateSigner(textAt(spec, 'signerName'))];
}

function validateSigner(name: string): FieldError[] {
  const field = 'spec.signerName';
  if (name === '') return [required(field)];
  if (name === 'kubernetes.io/legacy-unknown') {
    return [invalidValue(field, name, 'the legacy signerName is not allowed via this API version')];
  }
  const [domain = '', path = '', ...more] = name.split('/');
  const isGood = domain.includes('.') && path !== '' && more.length === 0 && name.length <= 571;
  if (isGood && dnsSubdomainFaults(domain).length + dnsSubdomainFaults(path).length === 0) return [];
  return [invalidValue(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
}

/** What a certificate can be good for, in the words of this API. */
const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

const DECISIONS = ['Approved', 'Denied', 'Failed'];

function validateConditions(request: JsonObject): FieldError[] {
  const path = 'status.conditions';
  const errors: FieldError[] = [];
  const types = conditionsOf(request).map((condition) => textAt(condition, 'type'));
  for (const [i, condition] of conditionsOf(request).entries()) {
    const [type, status] = [textAt(condition, 'type'), textAt(condition, 'status')];
    const states = DECISIONS.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (type === '') errors.push(required(`${path}[${i}].type`));
    if (status === '') errors.push(required(`${path}[${i}].status`));
    else if (!states.includes(status)) errors.push(unsupported(`${path}[${i}].status`, status, states));
    if (types.indexOf(type) < i) errors.push(duplicate(`${path}[${i}].type`, type));
  }
  if (types.includes('Approved') && types.includes('Denied')) {
    errors.push(invalidValue(path, types, 'Approved and Denied conditions are mutually exclusive'));
  }
  return errors;
}

function validateChange(request: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const types = conditionsOf(request).map((condition) => textAt(condition, 'type'));
  for (const type of conditionsOf(old).map((condition) => textAt(condition, 'type'))) {
    if (!DECISIONS.includes(type) || types.includes(type)) continue;
    errors.push(forbiddenField('status.conditions', `updates may not remove a condition of type "${type}"`));
  }
  const issued = textAt(statusOf(old), 'certificate');
  if (issued !== '' && textAt(statusOf(request), 'certificate') !== issued) {
    errors.push(forbiddenField('status.certificate', 'updates may not set or clear the certificate once it is issued'));
  }
  return errors;
}
