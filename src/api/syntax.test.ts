import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  dns1035LabelFaults,
  dnsLabelFaults,
  dnsSubdomainFaults,
  labelValueFaults,
  pathSegmentFaults,
  qualifiedNameFaults,
} from './syntax.ts';

test('a label is lower case letters, digits and dashes, at most 63', () => {
  assert.deepEqual(dnsLabelFaults('a-1'), []);
  assert.deepEqual(dnsLabelFaults('a.b'), ['must not contain dots']);
  assert.deepEqual(dnsLabelFaults('A'), [
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ]);
  assert.deepEqual(dnsLabelFaults('a'.repeat(64)), ['must be no more than 63 characters']);
});

test('a subdomain is labels joined by dots', () => {
  assert.deepEqual(dnsSubdomainFaults('a-b.c1'), []);
  assert.equal(dnsSubdomainFaults('a..b').length, 1);
  assert.equal(dnsSubdomainFaults('a-.b').length, 1);
});

test('a DNS-1035 label starts with a letter', () => {
  assert.deepEqual(dns1035LabelFaults('a1'), []);
  assert.equal(dns1035LabelFaults('1a').length, 1);
});

test('a qualified name may have one prefix', () => {
  assert.deepEqual(qualifiedNameFaults('example.com/My_Name.1'), []);
  assert.deepEqual(qualifiedNameFaults('/x'), ['prefix part must be non-empty']);
  assert.deepEqual(qualifiedNameFaults('a b'), [
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ]);
  assert.match(qualifiedNameFaults('a/b/c').join(), /^a qualified name must consist of/);
  assert.deepEqual(qualifiedNameFaults('a/')[0], 'name part must be non-empty');
});

test('a label value may be empty', () => {
  assert.deepEqual(labelValueFaults(''), []);
  assert.deepEqual(labelValueFaults('a'.repeat(64)), ['must be no more than 63 characters']);
  assert.match(labelValueFaults('-a').join(), /^a valid label must be an empty string or consist of/);
});

test('a path segment is not a dot and has no slash or percent', () => {
  assert.deepEqual(pathSegmentFaults('a.b'), []);
  assert.deepEqual(pathSegmentFaults('..'), ["may not be '..'"]);
  assert.deepEqual(pathSegmentFaults('a/%'), ["may not contain '/'", "may not contain '%'"]);
});

test('the patterns accept exactly what the patterns shown to people accept', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'B', '1', '-', '_', '.', '/'), maxLength: 8 });
  fc.assert(
    fc.property(text, (value) => {
      const ok = (faults: string[]) => faults.length === 0;
      assert.equal(ok(dnsLabelFaults(value)), /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(value));
      assert.equal(
        ok(dnsSubdomainFaults(value)),
        /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(value),
      );
      assert.equal(ok(dns1035LabelFaults(value)), /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(value));
      assert.equal(ok(labelValueFaults(value)), /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/.test(value));
    }),
  );
});

test('a megabyte of garbage is judged at once', () => {
  const start = performance.now();
  for (const garbage of ['a'.repeat(1e6), '-'.repeat(1e6), `${'a-'.repeat(5e5)}!`, `${'a.'.repeat(5e5)}!`]) {
    assert.notDeepEqual(qualifiedNameFaults(garbage), []);
    assert.notDeepEqual(dnsSubdomainFaults(garbage), []);
  }
  assert.ok(performance.now() - start < 2000);
});
