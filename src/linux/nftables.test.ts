import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsRoot, temporaryNamespace } from './network.fixture.ts';
import { inNetworkNamespace } from './network-namespace.ts';
import { changeFirewall, readFirewallTable } from './nftables.ts';
import { readSysctl, writeSysctl } from './sysctl.ts';

const table = { family: 'inet', name: 'netloom-test' };

test('commands of one transaction are applied together or not at all', needsRoot, async (t) => {
  const there = temporaryNamespace(t);
  const chain = { family: 'inet', table: 'netloom-test', name: 'in' };
  await assert.rejects(
    changeFirewall([{ add: { table } }, { add: { chain: { ...chain, table: 'absent' } } }], there),
    /No such file or directory/,
  );
  assert.equal(await readFirewallTable('inet', 'netloom-test', there), undefined);

  await changeFirewall([{ add: { table } }, { add: { chain } }], there);
  const inside = await readFirewallTable('inet', 'netloom-test', there);
  assert.deepEqual(
    inside?.map((entry) => Object.keys(entry as object)[0]),
    ['metainfo', 'table', 'chain'],
  );
  assert.equal(await readFirewallTable('inet', 'netloom-test'), undefined, 'not in our own namespace');
});

test('a setting is changed in its namespace alone, and what it was is handed back', needsRoot, (t) => {
  const there = temporaryNamespace(t);
  const name = ['net', 'ipv4', 'conf', 'lo', 'forwarding'];
  const before = readSysctl(name);
  const other = inNetworkNamespace(there, () => readSysctl(name)) === '1' ? '0' : '1';
  const was = inNetworkNamespace(there, () => writeSysctl(name, other));
  assert.notEqual(was, other);
  assert.equal(
    inNetworkNamespace(there, () => readSysctl(name)),
    other,
  );
  assert.equal(readSysctl(name), before);
  assert.equal(writeSysctl(['net', 'ipv4', 'conf', 'absent', 'forwarding'], '1'), undefined);
  assert.throws(() => readSysctl(['net', '..', 'x']), /no name of a kernel setting/);
});
