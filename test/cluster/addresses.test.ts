import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../engine/engine-in-test.ts';
import { ClusterInTest, type Controllers } from './cluster-in-test.ts';

const PROMISED = '192.168.122.100 10.0.0.10 172.17.0.150 172.18.0.10 172.20.0.10';

const ipSet = (name: string): string => `
apiVersion: network.openstack.org/v1beta1
kind: IPSet
metadata: { name: ${name} }
spec:
  networks:
    - { name: CtlPlane, subnetName: subnet1 }
    - { name: Tenant, subnetName: subnet1 }
`;

describe('addresses on a real kube-apiserver', () => {
  let cluster: ClusterInTest;
  const controllers: Controllers[] = [];
  before(async () => {
    cluster = await ClusterInTest.start();
    for (const _ of ['one', 'another']) controllers.push(cluster.controllers('--leader-elect'));
    await Promise.race(controllers.map(({ isAtWork }) => isAtWork));
  });
  after(() => cluster.stop());

  const becomesReady = (kind: string): Promise<string> =>
    cluster.ok(`wait --for=condition=Ready ${kind} --timeout=60s`);
  const addressesOf = (name: string): Promise<string> =>
    cluster.ok(`get ipset ${name} -o jsonpath={.status.reservations[*].address}`);

  test('the example gets what the documents promise', async () => {
    await cluster.ok('apply -f examples/ipam/');
    await becomesReady('ipset/edpm-compute-0');
    assert.equal(await addressesOf('edpm-compute-0'), PROMISED);
    assert.match(await cluster.run('who 172.17.0.150'), /edpm-compute-0/);
    assert.match(await cluster.run('explain ipset/edpm-compute-0'), /Ready/);
  });

  test('claims and the addresses of Services are served from the examples', async () => {
    await cluster.ok('apply -f examples/claims/');
    await cluster.ok('apply -f examples/pools/');
    await becomesReady('addressclaims --all -A');
    const addresses = () =>
      cluster.ok('get services -o jsonpath={.items[*].status.loadBalancer.ingress[*].ip}').then((text) => text.trim());
    assert.match(await eventually(addresses, (text) => text.split(' ').length >= 2), /^172\.17\.0\.80/);
  });

  test('what a schema forbids is refused by the API server itself', async () => {
    const wrong = ipSet('wrong').replace('subnetName: subnet1', 'subnetName: [subnet1]');
    const { code, stderr } = await cluster.kubectl('create -f -', wrong);
    assert.equal(code, 1);
    assert.match(stderr, /spec\.networks\[0\]\.subnetName/);
  });

  test('when the one that works is killed, the other takes over, and every address stays', async () => {
    const leader = await Promise.race(controllers.map((each) => each.isAtWork.then(() => each)));
    await leader.kill();
    await cluster.ok('apply -f -', ipSet('after-the-leader'));
    await becomesReady('ipset/after-the-leader');
    assert.equal(await addressesOf('edpm-compute-0'), PROMISED);
  });

  test('an API server that was gone for a while finds everything served again', async () => {
    await cluster.kubernetes.killServer();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await cluster.kubernetes.startServer();
    await cluster.ok('apply -f -', ipSet('after-the-server'));
    await becomesReady('ipset/after-the-server');
    const addresses = [await addressesOf('after-the-leader'), await addressesOf('after-the-server')]
      .join(' ')
      .split(' ');
    assert.equal(new Set(addresses).size, 4, `an address was given twice: ${addresses}`);
  });

  test('what is deleted frees its addresses and leaves nothing behind', async () => {
    await cluster.ok('delete ipset after-the-leader after-the-server edpm-compute-0 --timeout=60s');
    await cluster.ok('delete netconfig netconfig --timeout=60s');
    await eventually(
      () => cluster.ok('get ipsets,reservations,netconfigs -o name'),
      (names) => names.trim() === '',
    );
    assert.doesNotMatch(
      await cluster.ok('get addressblocks -n default -o jsonpath={.items[*].spec.holdings}'),
      /IPSet/,
    );
  });
});
