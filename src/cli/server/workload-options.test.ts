import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Prefix } from '../../api/prefix.ts';
import { UsageError } from '../command.ts';
import { readWorkloadOptions } from './workload-options.ts';

const services = ['10.96.0.0/16', 'fd00:96::/112'].flatMap((text) => Prefix.parse(text) ?? []);
const read = (text: string): string[] =>
  readWorkloadOptions({ pods: 'on', services: 'on', 'pod-cidr': text }, services).pods?.podCidrs.map(String) ?? [];

test('pods have addresses of one family or of both, the preferred first', () => {
  for (const text of [
    '10.244.0.0/16',
    'fd00:244::/56',
    '10.244.0.0/16,fd00:244::/56',
    'fd00:244::/112,10.244.0.0/24',
  ]) {
    assert.deepEqual(read(text), text.split(','));
  }
  assert.deepEqual(read('10.244.0.0/16, fd00:244::/56'), ['10.244.0.0/16', 'fd00:244::/56']);
});

for (const [text, words] of [
  ['10.244.0.0/16,10.245.0.0/16', /one network, or one of each family, .* not "10.244.0.0\/16,10.245.0.0\/16"/],
  ['10.244.0.0/16,fd00:244::/56,fd00:245::/56', /one network, or one of each family/],
  ['10.244.0.0/25', /at least one \/24, such as 10.244.0.0\/16, not "10.244.0.0\/25"/],
  ['10.244.0.0/16,fd00:244::/121', /at least one \/120, such as fd00:244::\/56, not "10.244.0.0\/16,fd00:244::\/121"/],
  ['10.244.0.0/16,', /at least one \/24, .* not "10.244.0.0\/16,"/],
  ['pods', /at least one \/24, .* not "pods"/],
  ['10.0.0.0/8,fd00:244::/56', /--pod-cidr 10.0.0.0\/8 overlaps --service-cidr 10.96.0.0\/16/],
  ['10.244.0.0/16,fd00:96::/56', /--pod-cidr fd00:96::\/56 overlaps --service-cidr fd00:96::\/112/],
] as const) {
  test(`pods cannot have their addresses from ${text}`, () => {
    assert.throws(
      () => read(text),
      (error) => error instanceof UsageError && words.test(error.message),
    );
  });
}
