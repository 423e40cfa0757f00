import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizeOfTable } from './firewall-table.ts';
import { needsRoot, temporaryNamespace, uniqueName } from './network.fixture.ts';
import { inNetworkNamespace } from './network-namespace.ts';
import { changeFirewall } from './nftables.ts';

test('the kernel says how much is in a table, and that there is none of a name', needsRoot, async (t) => {
  const [namespace, name] = [temporaryNamespace(t), `netloom-${uniqueName()}`];
  const size = (): number | undefined => inNetworkNamespace(namespace, () => sizeOfTable(name));
  assert.equal(size(), undefined);
  await changeFirewall([{ add: { table: { family: 'inet', name } } }], namespace);
  assert.equal(size(), 0);
  const chains = ['one', 'two'].map((chain) => ({ add: { chain: { family: 'inet', table: name, name: chain } } }));
  await changeFirewall(chains, namespace);
  assert.equal(size(), 2);
  await changeFirewall([{ delete: { table: { family: 'inet', name } } }], namespace);
  assert.equal(size(), undefined);
});
