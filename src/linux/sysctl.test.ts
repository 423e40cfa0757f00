import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsRoot, temporaryNamespace } from './network.fixture.ts';
import { inNetworkNamespace } from './network-namespace.ts';
import { readSysctl, writeSysctl } from './sysctl.ts';

const FORWARDING = ['net', 'ipv4', 'conf', 'lo', 'forwarding'];

test('a setting is written, and what it was before is known', needsRoot, (t) => {
  inNetworkNamespace(temporaryNamespace(t), () => {
    const before = readSysctl(FORWARDING);
    assert.equal(writeSysctl(FORWARDING, '1'), before);
    assert.equal(writeSysctl(FORWARDING, '1'), '1');
    assert.equal(readSysctl(FORWARDING), '1');
  });
});

test('a value that a setting cannot have is refused by the name of the setting', needsRoot, (t) => {
  inNetworkNamespace(temporaryNamespace(t), () => {
    assert.throws(() => writeSysctl(FORWARDING, 'perhaps'), {
      message: 'set net.ipv4.conf.lo.forwarding to perhaps: the kernel does not take these values (EINVAL)',
      code: 'EINVAL',
    });
  });
});

test('a setting that this kernel does not have is none, and names lead nowhere else', () => {
  assert.equal(readSysctl(['net', 'nothing']), undefined);
  assert.equal(writeSysctl(['net', 'nothing'], '1'), undefined);
  for (const odd of ['..', '.', '', 'a/b'])
    assert.throws(() => readSysctl(['net', odd]), /is no name of a kernel setting/);
});
