import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Node } from '../../src/api/core/node.ts';
import { Pod } from '../../src/api/core/pod.ts';
import { customResourceDefinition } from '../../src/api/crd.ts';
import { allKinds } from '../../src/api/kinds.ts';
import { Prefix } from '../../src/api/prefix.ts';
import { FakeHost } from '../../src/pods/host.fixture.ts';
import { podsAdmission, podsControllers } from '../../src/pods/index.ts';
import { isReady } from '../../src/pods/pod-state.ts';
import { CustomResourceDefinition } from '../../src/runtime/builtin.ts';
import { Client } from '../../src/runtime/client.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Manager } from '../../src/runtime/manager.ts';
import { system } from '../../src/runtime/system.ts';
import { EngineInTest, eventually } from './engine-in-test.ts';

describe('pods on the embedded engine', () => {
  let engine: EngineInTest;
  let client: Client;
  let manager: Manager;
  let host: FakeHost;

  before(async () => {
    engine = await EngineInTest.start({ kinds: allKinds, admission: podsAdmission({ evictAfterSeconds: 5 }) });
    const { transport } = engine;
    client = new Client({ transport, fieldManager: 'test' });
    await Promise.all(
      allKinds.map((kind) =>
        client.apply(CustomResourceDefinition, { ...customResourceDefinition(kind) } as never, { force: true }),
      ),
    );
    const podCidr = Prefix.parse('10.244.0.0/16');
    assert.ok(podCidr);
    const common = { transport, system, log: silentLog };
    manager = new Manager({
      ...common,
      controllers: podsControllers({ podCidrs: [podCidr] }),
      fieldManager: 'netloom',
      instance: 'test',
    });
    manager.start();
    host = new FakeHost({ ...common, name: 'a' });
    host.start();
  });
  after(async () => {
    await host.stop();
    await manager.stop({ within: 1_000 });
    await engine.stop();
  });

  test('a node gets its range, a pod its node, and when it is deleted it goes', async () => {
    const node = await eventually(
      () => client.get(Node, 'a'),
      (found) => found?.spec.podCIDR !== undefined,
    );
    assert.equal(node?.spec.podCIDR, '10.244.0.0/24');
    const metadata = { name: 'web', namespace: 'default' };
    await client.create(Pod, { metadata, spec: { containers: [{ name: 'main', image: 'none' }] } });
    const pod = await eventually(
      () => client.get(Pod, 'web', 'default'),
      (found) => found !== undefined && isReady(found),
    );
    assert.equal(pod?.spec.nodeName, 'a');
    assert.deepEqual(
      pod?.spec.tolerations?.map(({ key, tolerationSeconds }) => [key, tolerationSeconds]),
      [
        ['node.kubernetes.io/not-ready', 5],
        ['node.kubernetes.io/unreachable', 5],
      ],
    );
    await client.delete(Pod, metadata);
    await eventually(
      () => client.get(Pod, 'web', 'default'),
      (found) => found === undefined,
    );
  });
});
