import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../api/json.ts';
import { type FieldError, fieldMessage } from '../../api/status.ts';
import { applyDefaults } from '../schema/defaults.ts';
import { type Answer, kindOf, recordedAnswers, sentFor } from './answers.fixture.ts';
import { validateMetadata } from './metadata.ts';
import { metadataOf, objectsAt, specOf } from './reading.ts';
import { creations, rows, updates } from './requests/requests.fixture.ts';

/** What kube-apiserver 1.33 answered to the same requests. */
const recorded = recordedAnswers();

describe('a new object gets the answer of kube-apiserver:', () => {
  for (const [i, sent] of creations.entries()) {
    const answer = recorded.creations[i] ?? assert.fail('record the answers anew');
    it(titleOf(sent, answer), () => assertAnswer(answered(sent, undefined), answer));
  }
});

describe('a changed object gets the answer of kube-apiserver:', () => {
  for (const [i, { before, change }] of updates.entries()) {
    const { before: stored, answer } = recorded.updates[i] ?? assert.fail('record the answers anew');
    const title = `${change === 'as created' ? 'sent as it was created' : JSON.stringify(change)}: ${titleOf(before, answer)}`;
    it(title, () => assertAnswer(answered(sentFor(before, stored, change), stored), answer));
  }
});

describe('a row of a table is that of kube-apiserver:', () => {
  for (const [i, { object: asked }] of rows.entries()) {
    const { object, now, columns, cells } = recorded.rows[i] ?? assert.fail('record the answers anew');
    const kind = kindOf(object);
    it(`${kind.kind} ${metadataOf(asked)['name']}`, () => {
      assert.deepEqual(
        kind.columns.map((column) => column.cell(object, new Date(now))),
        cells,
      );
    });
    it(`${kind.kind} has the same columns as there`, () => {
      assert.deepEqual(
        kind.columns.map(({ name, type, format, priority }) => [name, type, format, priority].join(' | ')),
        columns,
      );
    });
  }
});

function titleOf(sent: JsonObject, answer: Answer): string {
  const kind = String(sent['kind']);
  if ('object' in answer) return `accepts ${kind} ${JSON.stringify(sent['spec'] ?? sent).slice(0, 80)}`;
  return `refuses ${kind} for ${[...new Set(answer.faults.map(([, field]) => field))].join(', ').slice(0, 120)}`;
}

interface Outcome {
  object: JsonObject;
  faults: FieldError[];
}

/** What happens to an object on its way to the store. */
function answered(sent: JsonObject, old: JsonObject | undefined): Outcome {
  const object = structuredClone(sent);
  const kind = kindOf(object);
  applyDefaults(object, kind.schema);
  kind.defaults(object);
  const metadata = metadataOf(object);
  if (kind.namespaced) metadata['namespace'] = 'default';
  if (old !== undefined) {
    for (const field of ['uid', 'creationTimestamp', 'generation']) {
      const value = metadataOf(old)[field];
      if (value !== undefined) metadata[field] = value;
    }
    if (old['status'] !== undefined) object['status'] = structuredClone(old['status']);
  }
  kind.prepare(object, old);
  return { object, faults: [...validateMetadata(object, old, kind), ...kind.validate(object, old)] };
}

function assertAnswer({ object, faults }: Outcome, answer: Answer): void {
  if ('object' in answer) {
    assert.deepEqual(faults.map(spoken), []);
    assert.deepEqual(comparable(object), comparable(answer.object));
    return;
  }
  const missing = answer.faults.filter((told) => !faults.some((fault) => saysTheSame(fault, told)));
  const invented = faults.filter((fault) => !answer.faults.some((told) => saysTheSame(fault, told)));
  assert.deepEqual({ missing, invented: invented.map(spoken) }, { missing: [], invented: [] });
}

function saysTheSame(fault: FieldError, [reason, field, message]: readonly [string, string, string]): boolean {
  if (fieldNow(field) !== fault.field || reason !== `FieldValue${fault.type}`) return false;
  const own = fieldMessage(fault);
  if (own === message) return true;
  // Values that are no plain ones are printed there as Go prints its structures, and here as JSON; a pod that must not
  // change comes with a listing of the differences.
  const isPlain = / value: (?:"|-?\d+(?:: |$)|true|false)/.test(message);
  return (!isPlain && message.endsWith(fault.detail)) || (own.endsWith('\n') && message.startsWith(own));
}

const spoken = (fault: FieldError): string => `${fault.field}: ${fieldMessage(fault)}`;

/** Definitions whose versions are all alike are read there as if they still had the fields of v1beta1. */
const fieldNow = (field: string): string =>
  field.replace(/^spec\.(subresources|additionalPrinterColumns|selectableFields)\b/, 'spec.versions[0].$1');

/** Without what only the real server hands out: identity, times, addresses and ports. */
function comparable(object: JsonObject): JsonObject {
  const copy = structuredClone(object);
  const metadata = metadataOf(copy);
  for (const field of ['uid', 'creationTimestamp', 'resourceVersion', 'generation']) delete metadata[field];
  if (copy['kind'] === 'CustomResourceDefinition') delete copy['status'];
  if (copy['kind'] === 'Service') {
    const spec = specOf(copy);
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'healthCheckNodePort'])
      delete spec[field];
    for (const port of objectsAt(spec, 'ports')) delete port['nodePort'];
  }
  return copy;
}
