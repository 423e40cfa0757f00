import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../api/json.ts';
import { apply, entriesOf, specOf, thing, update, withoutManagedFields } from './thing.fixture.ts';

const key = 'kubectl.kubernetes.io/last-applied-configuration';

/** An object as `kubectl apply` without --server-side leaves it. */
function appliedByClient(spec: JsonObject, annotation = `${JSON.stringify(thing(spec))}\n`): JsonObject {
  const object = thing(spec, { annotations: { [key]: annotation } });
  return update(undefined, object, { manager: 'kubectl-client-side-apply' });
}

const annotationOf = (object: JsonObject): unknown => {
  const { metadata } = JSON.parse(JSON.stringify(withoutManagedFields(object)));
  return metadata.annotations?.[key];
};

describe('kubectl moving from client-side to server-side apply', () => {
  it('takes over what it applied from the client, without a conflict', () => {
    const applied = apply(appliedByClient({ size: 1 }), thing({ size: 2 }), { manager: 'kubectl' });
    assert.deepEqual(specOf(applied), { size: 2 });
  });

  it('is in conflict about what somebody changed since', () => {
    const object = appliedByClient({ size: 1, mode: 'a' });
    const scaled = update(object, { ...object, spec: { size: 5, mode: 'a' } }, { manager: 'scaler' });
    assert.throws(() => apply(scaled, thing({ size: 2, mode: 'b' }), { manager: 'kubectl' }), {
      message: 'Apply failed with 1 conflict: conflict with "scaler" using example.com/v1: .spec.size',
    });
  });

  it('is in conflict as everybody else without a configuration that it can read', () => {
    for (const annotation of [
      '',
      '{',
      '[]',
      '{"apiVersion":"example.com/v9"}',
      JSON.stringify(thing({ unknown: 1 })),
      `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`,
    ]) {
      assert.throws(() => apply(appliedByClient({ size: 1 }, annotation), thing({ size: 2 }), { manager: 'kubectl' }), {
        code: 409,
      });
    }
  });

  it('has no privilege under another name', () => {
    assert.throws(() => apply(appliedByClient({ size: 1 }), thing({ size: 2 }), { manager: 'other' }), { code: 409 });
  });

  it('keeps the annotation up to date, for the way back', () => {
    const configuration = thing({ size: 1, mode: 'b' });
    const applied = apply(appliedByClient({ size: 1 }), configuration, { manager: 'kubectl' });
    assert.deepEqual(JSON.parse(String(annotationOf(applied))), configuration);
    assert.equal(annotationOf(apply(undefined, configuration, { manager: 'kubectl' })), undefined);
    const others = apply(appliedByClient({ size: 1 }), configuration, { manager: 'other' });
    assert.deepEqual(JSON.parse(String(annotationOf(others))), thing({ size: 1 }));
  });

  it('drops the annotation when it grows beyond what annotations may hold', () => {
    const applied = apply(appliedByClient({ size: 1 }), thing({ size: 1, mode: 'x'.repeat(300_000) }), {
      manager: 'kubectl',
    });
    assert.equal(annotationOf(applied), undefined);
    assert.equal(entriesOf(applied).length, 2);
  });
});
