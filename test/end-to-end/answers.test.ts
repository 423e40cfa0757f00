import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { netloom as program, runCommandLine } from '../../src/cli/program.ts';
import { eventually } from '../engine/engine-in-test.ts';
import { netloom, RunningNetloom } from './netloom.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/ipam/', import.meta.url));
const WEB = fileURLToPath(new URL('../../examples/web/', import.meta.url));
const CLAIMS = fileURLToPath(new URL('../../examples/claims/', import.meta.url));

/** A whole command line, against a server that is another process; in this process, because starting one costs more than the answer. */
async function ask({ kubeconfig }: RunningNetloom, words: readonly string[]) {
  let stdout = '';
  let stderr = '';
  const code = await runCommandLine(program, [...words, '--kubeconfig', kubeconfig], {
    print: (text) => {
      stdout += `${text}\n`;
    },
    warn: (text) => {
      stderr += `${text}\n`;
    },
  });
  return { code, stdout, stderr };
}

const ipSet = (name: string, request: string, finalizer?: string): string => `
apiVersion: network.openstack.org/v1beta1
kind: IPSet
metadata: {name: ${name}${finalizer === undefined ? '' : `, finalizers: [${finalizer}]`}}
spec: {networks: [{subnetName: subnet1, ${request}}]}
`;

describe('answers about addresses', () => {
  let up: RunningNetloom;
  const own = (...words: string[]) => ask(up, words);
  const apply = async (input: string) => {
    const applied = await netloom(['apply', '--kubeconfig', up.kubeconfig, '-f', '-'], { input });
    assert.equal(applied.code, 0, applied.stderr);
  };
  /** What `explain` says once the controllers have looked at the object. */
  const settled = (...words: string[]) =>
    eventually(
      () => own('explain', ...words),
      ({ stdout }) => /^Conditions:$/m.test(stdout),
    );

  before(async () => {
    up = await RunningNetloom.start('up');
    const applied = await own('apply', '-f', EXAMPLE);
    assert.equal(applied.code, 0, applied.stderr);
    await eventually(
      () => own('explain', 'ipset/edpm-compute-0'),
      ({ code }) => code === 0,
    );
  });
  after(() => up.stopAndRemove());

  test('who has an address: in any spelling, by prefix, by name, and for programs', async () => {
    const asked = await own('who', '::ffff:172.17.0.150');
    assert.equal(asked.code, 0, asked.stderr);
    assert.match(asked.stdout, /^172\.17\.0\.150 is held by IPSet edpm-compute-0 in namespace default$/m);
    assert.match(asked.stdout, /^ {2}network +InternalApi, subnet subnet1$/m);
    assert.match(asked.stdout, /^ {2}host +edpm-compute-0$/m);

    for (const prefix of ['172.17.0.128/25', '172.16.0.0/12', '0.0.0.0/0']) {
      const { code, stdout } = await own('who', prefix);
      assert.equal(code, 0);
      assert.match(stdout, /^172\.17\.0\.150 +IPSet\/edpm-compute-0 +default +InternalApi +subnet1 +edpm-compute-0/m);
    }
    for (const name of ['edpm-compute-0', 'ipsets/edpm-compute-0']) {
      assert.match((await own('who', name, '-n', 'default')).stdout, /edpm-compute-0 holds 5 addresses\n/);
    }
    const { holders, places } = JSON.parse((await own('who', '172.17.0.150', '-o', 'json')).stdout);
    assert.equal(holders[0].holder.name, 'edpm-compute-0');
    assert.deepEqual([places[0].network, places[0].given], ['InternalApi', 'dynamic']);
  });

  test('who has an address of the cluster itself', async () => {
    const { code, stdout } = await own('who', '10.96.0.1');
    assert.deepEqual(
      [code, stdout.split('\n')[0]],
      [0, '10.96.0.1 is held by Service kubernetes in namespace default'],
    );
    assert.match(
      (await own('who', 'svc/kubernetes')).stdout,
      /^10\.96\.0\.1 +Service\/kubernetes +default +address within/m,
    );
  });

  test('who has it when nobody has: where it lies, or what there is instead', async () => {
    const expected: [string, RegExp][] = [
      ['172.17.0.10', /network InternalApi.*never given, as it is in excludeAddresses$/m],
      ['192.168.122.1', /network CtlPlane.*exactly this one, as it is the gateway$/m],
      [
        '9.9.9.9',
        /lies in no subnet .*network of pods\. Addresses are given from .*172\.17\.0\.0\/24 \(network InternalApi\)/,
      ],
      ['172.17.0.0/28', /^nobody holds an address of 172\.17\.0\.0\/28/],
      ['edpm-compute-1', /Did you mean "edpm-compute-0"\?/],
    ];
    for (const [subject, answer] of expected) {
      const { code, stdout } = await own('who', subject);
      assert.equal(code, 1, subject);
      assert.match(stdout, answer);
    }
    const wrong = await own('who', '172.17.0.500');
    assert.deepEqual([wrong.code, wrong.stderr], [2, 'netloom: "172.17.0.500" is not an IP address\n']);
  });

  test('why an IPSet does not get the address that it asks for, and what to do about it', async () => {
    await apply(ipSet('excluded', 'name: InternalApi, fixedIP: 172.17.0.10'));
    const { code, stdout } = await settled('ipset/excluded');
    assert.equal(code, 1);
    assert.match(stdout, /^IPSet excluded in namespace default is not Ready$/m);
    assert.match(stdout, /fixedIP 172\.17\.0\.10 is in excludeAddresses of subnet subnet1/);
    assert.match(stdout, /→ take 172\.17\.0\.10 out of excludeAddresses of subnet subnet1 in NetConfig netconfig$/m);
    assert.match(
      stdout,
      /→ or delete IPSet excluded and create it anew with another fixedIP \(172\.17\.0\.11 is free\)/,
    );
    const answer = JSON.parse((await own('explain', 'ipset', 'excluded', '-o', 'json')).stdout);
    assert.deepEqual(
      [answer.ready, answer.findings[0].about],
      [false, { kind: 'NetConfig', namespace: 'default', name: 'netconfig' }],
    );
  });

  test('who has the address of a claim, and why another claim has none', async () => {
    const applied = await own('apply', '-f', CLAIMS);
    assert.equal(applied.code, 0, applied.stderr);
    const explained = await eventually(
      () => own('explain', 'addressclaim/nfs', '-n', 'claims'),
      ({ code }) => code === 0,
    );
    assert.match(explained.stdout, /^AddressClaim nfs in namespace claims is Ready$/m);
    const { stdout } = await own('who', '172.18.0.5', '-n', 'claims');
    assert.match(stdout, /^172\.18\.0\.5 is held by AddressClaim nfs in namespace claims$/m);
    assert.match(stdout, /^ {2}host +edpm-compute-1$/m);
    for (const name of ['nfs', 'aclaim/nfs']) assert.match((await own('who', name)).stdout, /nfs holds one address\n/);
    const columns = await own('get', 'aclaim', '-n', 'claims');
    assert.match(columns.stdout, /^NAME +HOST +NETWORK +ADDRESS +READY +MESSAGE +AGE$/m);
    assert.match(columns.stdout, /^nfs +edpm-compute-1 +Storage +172\.18\.0\.5 +True +172\.18\.0\.5 is held for/m);

    await apply(`
apiVersion: netloom.io/v1alpha1
kind: AddressClaim
metadata: {name: excluded, namespace: default}
spec: {host: edpm-compute-0, network: InternalApi, subnet: subnet1, address: 172.17.0.10}
`);
    const excluded = await settled('aclaim/excluded');
    assert.equal(excluded.code, 1);
    assert.match(excluded.stdout, /address 172\.17\.0\.10 is in excludeAddresses of subnet subnet1/);
    assert.match(excluded.stdout, /→ or delete AddressClaim excluded and create it anew with another address/);
    assert.equal((await own('delete', 'aclaim', 'excluded')).code, 0);
    const deleted = await own('delete', '-f', CLAIMS);
    assert.equal(deleted.code, 0, deleted.stderr);
  });

  test('why an IPSet does not go', async () => {
    await apply(ipSet('leaving', 'name: Tenant', 'example.com/drain'));
    await settled('ipset/leaving');
    await own('delete', 'ipset', 'leaving', '--no-wait');
    const { code, stdout } = await own('explain', 'ipset/leaving');
    assert.equal(code, 1);
    assert.match(stdout, /stays until its finalizers are gone: .*example\.com\/drain/);
    assert.match(stdout, /→ let whoever set example\.com\/drain on IPSet leaving finish/);
  });

  test('how full a NetConfig is, and that data without readiness is fine', async () => {
    const { code, stdout } = await own('explain', 'netconfig/netconfig');
    assert.equal(code, 0, stdout);
    assert.match(stdout, /network CtlPlane, subnet subnet1 .*: 1 of 72 addresses of .* are held, 71 are free/);
    assert.equal((await own('explain', 'reservation/edpm-compute-0')).code, 0);
    assert.equal((await own('explain', 'namespace', 'default')).code, 0);
  });

  test('why pods are not Ready, for them and for all that depends on them', async () => {
    assert.equal((await own('apply', '-f', WEB)).code, 0);
    const reason = /no node takes it: no nodes available/;
    const deployment = await eventually(
      () => own('explain', 'deploy/web'),
      ({ stdout }) => /and 2 others are not Ready\n +no node takes it/.test(stdout),
    );
    assert.equal(deployment.code, 1);
    assert.match(deployment.stdout, /^Deployment web in namespace default is not Ready$/m);
    assert.match(
      deployment.stdout,
      /0 of 3 pods are Ready\n +Pod web-\w+-\w+ and 2 others are not Ready\n +no node takes it: no nodes available/,
    );
    const service = await own('explain', 'svc/web');
    assert.deepEqual([service.code, reason.test(service.stdout)], [1, true]);
    assert.match(service.stdout, /nobody answers: none of its 3 pods is Ready/);
    const pods = JSON.parse((await own('get', 'pods', '-o', 'json')).stdout);
    const pod = await own('explain', `pod/${pods.items[0].metadata.name}`);
    assert.deepEqual([pod.code, reason.test(pod.stdout)], [1, true]);
    assert.equal((await own('delete', '-f', WEB)).code, 0);
  });

  test('why a pool is of no use, and an advertisement for nothing', async () => {
    await apply(`
apiVersion: v1
kind: Namespace
metadata: {name: metallb-system}
---
apiVersion: metallb.io/v1beta1
kind: IPAddressPool
metadata: {name: vips, namespace: metallb-system}
spec: {addresses: [192.168.122.100-192.168.122.109]}
---
apiVersion: metallb.io/v1beta1
kind: L2Advertisement
metadata: {name: l2, namespace: metallb-system}
spec: {ipAddressPools: [vipz]}
`);
    const pool = await settled('ipaddresspool/vips', '-n', 'metallb-system');
    assert.equal(pool.code, 1);
    assert.match(pool.stdout, /→ apply an L2Advertisement to namespace metallb-system that names pool vips/);
    const advertisement = await own('explain', 'l2advertisement/l2', '-n', 'metallb-system');
    assert.equal(advertisement.code, 1);
    assert.match(advertisement.stdout, /it names pool "vipz", which does not exist .*Did you mean "vips"\?/);
    const { stdout } = await own('who', '192.168.122.105');
    assert.match(
      stdout,
      /subnet subnet1 .* only given to who asks for exactly this one, as addresses of pool vips are/,
    );
    assert.match(
      (await own('explain', 'netconfig/netconfig')).stdout,
      /subnet1 \(192\.168\.122\.0\/24\): 0 of 62 addr/,
    );
    assert.equal((await own('delete', 'namespace', 'metallb-system')).code, 0);
  });

  test('what does not exist is answered with what does', async () => {
    const expected: [string[], number, RegExp][] = [
      [['ipset/edpm-compute-1'], 1, /no IPSet "edpm-compute-1" in namespace default\. Did you mean "edpm-compute-0"\?/],
      [['ipset/edpm-compute-0', '-n', 'kube-system'], 1, /but one in default: add -n default/],
      [['ipsetz/x'], 1, /has no resource "ipsetz"\. Did you mean "ipsets"\?/],
      [['ipset'], 2, /"ipset" is not KIND\/NAME/],
    ];
    for (const [words, code, message] of expected) {
      const answer = await own('explain', ...words);
      assert.equal(answer.code, code, answer.stderr);
      assert.match(answer.stderr, message);
    }
  });
});

test('that an API does not answer is taken neither for nobody nor for not Ready', async () => {
  const engine = await RunningNetloom.start('engine');
  const { directory } = engine;
  try {
    await engine.stop();
    for (const words of [
      ['who', '172.17.0.80'],
      ['explain', 'ipset/edpm-compute-0'],
    ]) {
      const { code, stdout, stderr } = await ask(engine, words);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(
        stderr,
        /^netloom: the API does not answer \(connect ECONNREFUSED .*\): see whether "netloom up" runs/,
      );
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('where no controller runs, it is said that nobody has written a status', async () => {
  const up = await RunningNetloom.start('up');
  const directory = up.directory;
  await up.stop();
  const engine = await RunningNetloom.start('engine', { directory });
  try {
    const own = (...words: string[]) => ask(engine, words);
    assert.equal((await own('apply', '-f', EXAMPLE)).code, 0);
    const { code, stdout } = await own('explain', 'ipset/edpm-compute-0');
    assert.equal(code, 1);
    assert.match(stdout, /nothing has written a status for IPSet edpm-compute-0, which was created/);
  } finally {
    await engine.stopAndRemove();
  }
});
