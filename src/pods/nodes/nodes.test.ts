import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storm } from '../../../test/simulation/faults.ts';
import { Node } from '../../api/core/node.ts';
import { Pod } from '../../api/core/pod.ts';
import { AddressBlock } from '../../api/netloom.io/address-block.ts';
import { Prefix } from '../../api/prefix.ts';
import { Lab, NAMESPACE } from '../lab.fixture.ts';
import { isReady, isTerminating } from '../pod-state.ts';
import { readiness } from './health.ts';
import { freeRanges } from './ranges.ts';

const patient = (tolerationSeconds: number) => ({
  tolerations: [
    { key: 'node.kubernetes.io/unreachable', operator: 'Exists' as const, effect: 'NoExecute', tolerationSeconds },
  ],
});
const taints = (lab: Lab, name: string) =>
  (lab.node(name).spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);

describe('ranges for the pods of a node', () => {
  it('are given from the lowest up, and freed when the node is gone', async () => {
    const lab = new Lab();
    lab.start();
    for (const name of ['a', 'b']) lab.host(name);
    await lab.settle();
    assert.deepEqual(
      new Set(['a', 'b'].map((name) => lab.node(name).spec.podCIDR)),
      new Set(['10.244.0.0/24', '10.244.1.0/24']),
    );
    const freed = lab.node('a').spec.podCIDR;
    await lab.cut('a');
    await lab.world.client.delete(Node, { namespace: '', name: 'a' });
    await lab.settle();
    assert.equal(lab.world.api.objects(AddressBlock).length, 1);
    lab.host('c');
    await lab.settle();
    assert.equal(lab.node('c').spec.podCIDR, freed);
    await lab.stop();
  });

  const both = ['10.244.0.0/16', 'fd00:244::/56'];
  for (const { networks, seed } of [
    ...[1, 2, 3].map((number) => ({ networks: both.slice(0, 1), seed: number })),
    ...[1, 2].map((number) => ({ networks: both, seed: number })),
  ]) {
    it(`are never given twice by two that believe they lead, in a storm (${networks.join(' and ')}, seed ${seed})`, async () => {
      const lab = new Lab({ seed });
      const { clock, client } = lab.world;
      lab.start({ faults: storm, networks });
      lab.start({ faults: storm, networks });
      const names = new Set<string>();
      for (let i = 0; i < 40; i += 1) {
        const name = `n${Math.floor(clock.random() * 12)}`;
        if (names.delete(name)) {
          await client.delete(Node, { namespace: '', name });
        } else {
          names.add(name);
          await client.create(Node, { metadata: { name }, spec: {} });
        }
        await lab.settle(Math.floor(clock.random() * 1_500));
        assertNoneTwice(lab);
      }
      // A watch may fall silent for ten minutes, and the next one again.
      await lab.settle(3_600_000);
      assertNoneTwice(lab);
      for (const { metadata, spec } of lab.world.api.objects(Node)) {
        assert.equal(spec.podCIDRs?.length, networks.length, `${metadata.name} has not all`);
        assert.equal(spec.podCIDR, spec.podCIDRs?.[0]);
      }
      const records = lab.world.api.objects(AddressBlock).length;
      assert.equal(records, names.size * networks.length, 'no range is held by nobody');
      await lab.stop();
    });
  }

  it('are one of each family, in the order of the networks, and both freed when the node is gone', async () => {
    const lab = new Lab();
    lab.start({ networks: both.toReversed() });
    lab.host('a');
    await lab.settle();
    assert.deepEqual(lab.node('a').spec, {
      ...lab.node('a').spec,
      podCIDR: 'fd00:244::/64',
      podCIDRs: ['fd00:244::/64', '10.244.0.0/24'],
    });
    lab.host('b');
    await lab.settle();
    assert.deepEqual(lab.node('b').spec.podCIDRs, ['fd00:244:0:1::/64', '10.244.1.0/24']);
    await lab.cut('a');
    await lab.world.client.delete(Node, { namespace: '', name: 'a' });
    await lab.settle();
    assert.equal(lab.world.api.objects(AddressBlock).length, 2);
    lab.host('c');
    await lab.settle();
    assert.deepEqual(lab.node('c').spec.podCIDRs, ['fd00:244::/64', '10.244.0.0/24']);
    await lab.stop();
  });

  it('are none where one family has none left, and given when a node goes', async () => {
    const lab = new Lab();
    lab.start({ networks: ['10.244.0.0/16', 'fd00:244::/120'] });
    lab.host('a');
    await lab.settle();
    assert.deepEqual(lab.node('a').spec.podCIDRs, ['10.244.0.0/24', 'fd00:244::/120']);
    lab.host('b');
    await lab.settle();
    assert.equal(lab.node('b').spec.podCIDRs, undefined);
    assert.match(lab.events('b').join('\n'), /CIDRNotAvailable: No range of fd00:244::\/120 is left/);
    await lab.cut('a');
    await lab.world.client.delete(Node, { namespace: '', name: 'a' });
    await lab.settle(5_000);
    assert.equal(lab.node('b').spec.podCIDRs?.[1], 'fd00:244::/120');
    await lab.stop();
  });

  it('of a node stay as they are when pods get a second family', async () => {
    const lab = new Lab();
    const before = lab.start();
    lab.host('a');
    await lab.settle();
    await lab.world.clock.run(before.stop({ within: 1_000 }));
    lab.start({ networks: both });
    lab.host('b');
    await lab.settle();
    assert.deepEqual(lab.node('a').spec.podCIDRs, ['10.244.0.0/24']);
    assert.deepEqual(lab.node('b').spec.podCIDRs, ['10.244.1.0/24', 'fd00:244::/64']);
    await lab.stop();
  });

  it('do not overlap those that were given while they were smaller', () => {
    const [network] = ['fd00:244::/56'].flatMap((text) => Prefix.parse(text) ?? []);
    assert.ok(network);
    const [first] = freeRanges(network, new Set(['fd00:244::/120', 'fd00:244:0:1::500/120', '10.244.0.0/24']));
    assert.equal(`${first}`, 'fd00:244:0:2::/64');
  });
});

function assertNoneTwice(lab: Lab): void {
  const given = lab.world.api.objects(Node).flatMap(({ spec }) => spec.podCIDRs ?? []);
  assert.equal(new Set(given).size, given.length, given.join(' '));
}

describe('a host that falls silent', () => {
  it('is not ready within ten seconds, its pods neither, and ready again at once', async () => {
    const lab = new Lab();
    lab.start();
    for (const name of ['a', 'b']) lab.host(name);
    await lab.settle();
    await lab.pod('web', { ...patient(60), nodeName: 'a' });
    await lab.settle(10_000);
    assert.equal(readiness(lab.node('a')), 'True');
    assert.ok(isReady(lab.find('web')));
    await lab.cut('a');
    await lab.settle(10_000);
    assert.equal(readiness(lab.node('a')), 'Unknown');
    assert.equal(isReady(lab.find('web')), false);
    assert.deepEqual(taints(lab, 'a'), [
      'node.kubernetes.io/unreachable:NoSchedule',
      'node.kubernetes.io/unreachable:NoExecute',
    ]);
    lab.host('a');
    await lab.settle(1_000);
    assert.equal(readiness(lab.node('a')), 'True');
    assert.deepEqual(taints(lab, 'a'), []);
    assert.ok(isReady(lab.find('web')));
    assert.equal(isTerminating(lab.find('web')), false);
    await lab.stop();
  });

  it('loses its pods after the time that they tolerate; they stay on record until somebody knows that they have ended', async () => {
    const lab = new Lab();
    lab.start();
    for (const name of ['a', 'b']) lab.host(name);
    await lab.settle();
    await lab.pod('soon', { ...patient(5), nodeName: 'a' });
    await lab.pod('late', { ...patient(60), nodeName: 'a' });
    await lab.pod('never', { tolerations: [{ operator: 'Exists' }], nodeName: 'a' });
    await lab.settle();
    await lab.cut('a');
    await lab.settle(16_000);
    assert.deepEqual(
      ['soon', 'late', 'never'].map((name) => isTerminating(lab.find(name))),
      [true, false, false],
    );
    assert.ok(lab.events('soon').includes('Normal TaintManagerEviction: Marking for deletion Pod default/soon'));
    await lab.settle(60_000);
    assert.deepEqual(
      ['soon', 'late', 'never'].map((name) => isTerminating(lab.find(name))),
      [true, true, false],
    );
    const outOfService = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
    const others = lab.node('a').spec.taints?.map((taint) => ({ ...taint })) ?? [];
    await lab.world.client.patch(
      Node,
      { namespace: '', name: 'a' },
      { merge: { spec: { taints: [...others, outOfService] } } },
    );
    await lab.settle();
    assert.deepEqual(
      lab.pods().map(({ metadata }) => metadata.name),
      ['never'],
    );
    await lab.world.client.delete(Node, { namespace: '', name: 'a' });
    await lab.settle(15_000);
    assert.deepEqual(lab.pods(), []);
    await lab.stop();
  });

  it('keeps its pods when no other is heard of either', async () => {
    const lab = new Lab();
    lab.start();
    for (const name of ['a', 'b']) lab.host(name);
    await lab.settle();
    await lab.pod('web', { ...patient(0), nodeName: 'a' });
    await lab.settle();
    await Promise.all([lab.cut('a'), lab.cut('b')]);
    await lab.settle(60_000);
    assert.equal(readiness(lab.node('a')), 'Unknown');
    assert.equal(isTerminating(lab.find('web')), false);
    lab.host('b');
    await lab.settle(3_000);
    assert.equal(isTerminating(lab.find('web')), true);
    await lab.stop();
  });

  it('is not called lost by somebody who only hears nothing', async () => {
    const lab = new Lab();
    lab.start({ faults: { silentWatch: 1 } });
    for (const name of ['a', 'b']) lab.host(name);
    await lab.settle(60_000);
    assert.equal(readiness(lab.node('a')), 'True');
    await lab.stop();
  });
});

describe('a pod that is bound to a node that does not exist', () => {
  it('is removed when the node does not come', async () => {
    const lab = new Lab();
    lab.start();
    await lab.pod('lost', { nodeName: 'nowhere' });
    await lab.pod('early', { nodeName: 'soon' });
    await lab.settle(3_000);
    lab.host('soon');
    await lab.settle(15_000);
    assert.deepEqual(
      lab.pods().map(({ metadata }) => metadata.name),
      ['early'],
    );
    assert.equal(await lab.world.client.get(Pod, 'lost', NAMESPACE), undefined);
    await lab.stop();
  });
});

describe('a taint that ends pods, put on by hand', () => {
  const taint = { key: 'repair', value: 'disk', effect: 'NoExecute' as const };
  const patience = (tolerationSeconds?: number) => ({
    nodeName: 'a',
    tolerations: [
      { key: 'repair', operator: 'Exists' as const, ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }) },
    ],
  });
  const put = (lab: Lab) =>
    lab.world.client.patch(Node, { namespace: '', name: 'a' }, { merge: { spec: { taints: [taint] } } });
  const names = (lab: Lab) => lab.pods().flatMap((pod) => (isTerminating(pod) ? [] : [pod.metadata.name]));

  it('lets pods stay for as long as they tolerate it, from then on', async () => {
    const lab = new Lab();
    lab.start();
    lab.host('a');
    await lab.pod('none', { nodeName: 'a' });
    await lab.pod('some', patience(30));
    await lab.pod('more', patience(300));
    await lab.pod('all', patience());
    await lab.settle(60_000);
    await put(lab);
    await lab.settle(20_000);
    assert.deepEqual(names(lab), ['all', 'more', 'some']);
    await lab.settle(15_000);
    assert.deepEqual(names(lab), ['all', 'more']);
    await lab.settle(300_000);
    assert.deepEqual(names(lab), ['all']);
    await lab.stop();
  });

  it('leaves one that comes later the same time', async () => {
    const lab = new Lab();
    lab.start();
    lab.host('a');
    await lab.settle();
    await put(lab);
    await lab.settle(120_000);
    await lab.pod('successor', patience(30));
    await lab.settle(20_000);
    assert.deepEqual(names(lab), ['successor']);
    await lab.settle(15_000);
    assert.deepEqual(names(lab), []);
    await lab.stop();
  });
});
