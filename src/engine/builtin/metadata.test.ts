import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../api/json.ts';
import { fieldMessage } from '../../api/status.ts';
import { type MetadataRules, nameFaults, validateMetadata } from './metadata.ts';

const rules: MetadataRules = { namespaced: true, nameRule: 'subdomain', qualifiedFinalizers: false };
const faultsOf = (metadata: JsonObject, old?: JsonObject, changed: Partial<MetadataRules> = {}): string[] =>
  validateMetadata({ metadata }, old && { metadata: old }, { ...rules, ...changed }).map(
    (fault) => `${fault.field}: ${fieldMessage(fault)}`,
  );
const good = { name: 'a.b', namespace: 'default' };

describe('metadata of a new object', () => {
  it('is fine with a name and a namespace', () => assert.deepEqual(faultsOf(good), []));

  it('needs a name, or something to make one of', () => {
    assert.deepEqual(faultsOf({ namespace: 'default' }), [
      'metadata.name: Required value: name or generateName is required',
    ]);
  });

  it('is in a namespace exactly if its kind is', () => {
    assert.deepEqual(faultsOf({ name: 'a' }), ['metadata.namespace: Required value']);
    assert.deepEqual(faultsOf(good, undefined, { namespaced: false }), [
      'metadata.namespace: Forbidden: not allowed on this type',
    ]);
    assert.match(faultsOf({ name: 'a', namespace: 'a.b' })[0] ?? '', /must not contain dots/);
  });

  it('has finalizers with a domain where the kind wants them', () => {
    const finalizers = ['x.com/y', 'orphan', 'mine'];
    assert.deepEqual(faultsOf({ ...good, finalizers }), []);
    assert.deepEqual(faultsOf({ ...good, finalizers }, undefined, { qualifiedFinalizers: true }), [
      'metadata.finalizers[2]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });

  it('is told of many controllers once', () => {
    const owner = { apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u', controller: true };
    assert.equal(faultsOf({ ...good, ownerReferences: [owner, owner, owner, owner] }).length, 1);
  });

  it('of hostile size gets an answer of bearable size', () => {
    const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`A b${i}`, 'c d']));
    const finalizers = Array.from({ length: 10_000 }, (_, i) => `A b${i}`);
    assert.equal(faultsOf({ ...good, labels, annotations: labels, finalizers }).length, 501);
  });

  it('may hold keys that mean something to JavaScript', () => {
    const labels: JsonObject = JSON.parse('{"__proto__":"x","constructor":"y"}');
    assert.match(faultsOf({ ...good, labels }).join(), /"__proto__": name part must consist/);
  });
});

describe('metadata of a changed object', () => {
  const stored = { ...good, uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z', generation: 3 };

  it('keeps what identifies the object', () => {
    assert.deepEqual(faultsOf(stored, stored), []);
    assert.deepEqual(faultsOf({ ...stored, name: 'z', uid: 'v', generation: 2 }, stored), [
      'metadata.generation: Invalid value: 2: must not be decremented',
      'metadata.name: Invalid value: "z": field is immutable',
      'metadata.uid: Invalid value: "v": field is immutable',
    ]);
  });

  it('keeps a name that was good enough when it was given', () => {
    const old = { ...stored, name: 'Not_Good' };
    assert.deepEqual(faultsOf(old, old), []);
  });
});

describe('a name', () => {
  it('that is a beginning may end with a dash', () => {
    assert.deepEqual(nameFaults('subdomain', 'abc-', true), []);
    assert.notDeepEqual(nameFaults('subdomain', 'abc-'), []);
  });

  it('follows the rule of its kind', () => {
    assert.deepEqual(nameFaults('path', 'Any Thing:1'), []);
    assert.notDeepEqual(nameFaults('path', 'a/b'), []);
    assert.notDeepEqual(nameFaults('path', '..'), []);
    assert.deepEqual(nameFaults('path', '.', true), []);
    assert.notDeepEqual(nameFaults('dns1035', '1a'), []);
    assert.deepEqual(nameFaults('label', '1a'), []);
    assert.notDeepEqual(nameFaults('label', 'a.b'), []);
  });
});
