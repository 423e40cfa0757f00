import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Pod } from '../../src/api/core/pod.ts';
import { LabInTest, noLabs } from './lab-in-test.ts';
import { type Seen, Witness } from './witness.ts';

const LAB = `
switches:
  rack: { subnet: 10.91.1.0/24 }
hosts: ['@a', '@b', '@c']
`;

describe('hosts that die, and what ran on them', { skip: noLabs }, () => {
  const witness = new Witness();
  let lab: LabInTest;
  let hosts: string[];
  before(async () => {
    lab = await LabInTest.start(LAB);
    hosts = ['a', 'b', 'c'].map((name) => lab.host(name));
    await lab.ok('create -f -', witness.deployment('web', 6));
    await lab.ok('rollout status deployment/web --timeout=60s');
  });
  after(async () => {
    await lab?.stop();
    witness.remove();
  });
  const uidsOf = (seen: readonly Seen[]): string[] => seen.map(({ pod }) => pod).sort();
  /** Those that are to be: a pod that should end stays in the API for as long as its host says nothing. */
  const podsInApi = async (): Promise<string[]> =>
    (JSON.parse(await lab.ok('get pods -o json')).items as Pod[])
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.uid)
      .sort();
  /** The processes are those of the pods that should be, one of each. */
  const settled = (count: number): Promise<unknown> =>
    lab.eventually(
      async () => ({ api: await podsInApi(), running: uidsOf(witness.running()) }),
      ({ api, running }) => running.length === count && `${running}` === `${api}`,
    );
  beforeEach(() => settled(6));

  test('a host that dies is not Ready soon, its pods come anew elsewhere once, and it comes back without them', async () => {
    const [dying = ''] = hosts;
    const ran = witness.running();
    const lost = ran.filter(({ host }) => host === dying);
    assert.ok(lost.length > 0, 'the scheduler left a host without pods');
    const begun = witness.begun().length;

    const at = Date.now();
    await lab.run(['lab', 'kill', dying]);
    assert.deepEqual(
      witness.running(),
      ran.filter(({ host }) => host !== dying),
    );
    await lab.becomesReady(dying, false);
    assert.ok(Date.now() - at < 100_000, 'a dead host is to be not Ready within 10 s');
    await settled(6);
    assert.ok(witness.running().every(({ host }) => host !== dying));

    await lab.run(['lab', 'heal', dying]);
    await lab.becomesReady(dying, true);
    // Its agent does its work again: so it has seen what it should not start.
    await lab.ok('create -f -', witness.pod('there', { nodeName: dying }));
    await lab.ok('wait pod/there --for=condition=Ready --timeout=60s');
    await settled(7);
    await lab.ok('delete pod there');
    await settled(6);
    assert.equal(witness.begun().length - begun, lost.length + 1, 'something began more often than once');
  });

  test('when all hosts die at once and come back, everything runs again, once', async () => {
    await lab.ok('create -f -', witness.pod('alone'));
    await lab.ok('wait pod/alone --for=condition=Ready --timeout=60s');
    await Promise.all(hosts.map((host) => lab.run(['lab', 'kill', host])));
    assert.deepEqual(witness.running(), []);
    for (const host of hosts) await lab.becomesReady(host, false);
    const begun = witness.begun().length;
    await lab.run(['lab', 'heal', hosts[0] ?? '']);
    await Promise.all(hosts.map((host) => lab.run(['lab', 'heal', host])));
    for (const host of hosts) await lab.becomesReady(host, true);
    await lab.ok('wait pod/alone --for=condition=Ready --timeout=60s');
    await settled(7);
    await lab.ok('rollout status deployment/web --timeout=60s');
    assert.equal(witness.begun().length - begun, 7, 'something began more often than once');
    await lab.ok('delete pod alone');
    await settled(6);
  });

  test('a keeper that is killed is followed by another one before its hosts are lost', async () => {
    const ran = witness.running();
    const keeper = async () => JSON.parse(await lab.run(['lab', 'status', lab.name, '-o', 'json'])).keeper;
    const first = await keeper();
    // Whoever stands by is replaced, too.
    const [before = 0] = await lab.eventually(
      async () => guardsOf(lab.name),
      ({ length }) => length === 1,
    );
    process.kill(before, 'SIGKILL');
    await lab.eventually(
      async () => guardsOf(lab.name),
      (pids) => pids.length === 1 && !pids.includes(before),
    );
    process.kill(first, 'SIGKILL');
    const second = await lab.eventually(keeper, (pid) => pid !== undefined && pid !== first);
    for (const host of hosts) {
      await lab.ok('create -f -', witness.pod(`after-${host}`, { nodeName: host }));
      await lab.ok(`wait pod/after-${host} --for=condition=Ready --timeout=60s`);
      await lab.ok(`delete pod after-${host}`);
    }
    await settled(6);
    assert.deepEqual(witness.running(), ran);
    assert.equal(await keeper(), second);
  });

  test('whoever is killed with SIGKILL, no container notices: agents, the keeper, the engine', async () => {
    const ran = witness.running();
    for (const host of hosts) await lab.run(['lab', 'kill', host, 'agent']);
    const { keeper } = JSON.parse(await lab.run(['lab', 'status', lab.name, '-o', 'json']));
    process.kill(keeper, 'SIGKILL');
    await lab.restartNetloom();
    await lab.upAgain();
    for (const host of hosts) await lab.becomesReady(host, true);
    await lab.ok('create -f -', witness.deployment('more', 3));
    await lab.ok('rollout status deployment/more --timeout=60s');
    await settled(9);
    assert.deepEqual(
      witness.running().filter(({ pid }) => ran.some((one) => one.pid === pid)),
      ran,
    );
    await lab.ok('delete deployment more');
    await settled(6);
  });

  test('containers of a supervisor that is killed run on or come anew, never both', async () => {
    const pods = uidsOf(witness.running());
    for (const host of hosts) {
      await lab.run(['lab', 'kill', host, 'supervisor']);
      await lab.run(['lab', 'kill', host, 'agent']);
    }
    // What comes after them does its work on each host, so it has seen what was there.
    const after = hosts.map((host, i) => ({ host, name: `after-${i}` }));
    for (const { host, name } of after) await lab.ok('create -f -', witness.pod(name, { nodeName: host }));
    for (const { name } of after) await lab.ok(`wait pod/${name} --for=condition=Ready --timeout=60s`);
    await lab.ok('rollout status deployment/web --timeout=60s');
    await settled(9);
    for (const { name } of after) await lab.ok(`delete pod ${name}`);
    await settled(6);
    assert.deepEqual(uidsOf(witness.running()), pods);
  });
});

/** Who stands by to become the next keeper of a lab. */
function guardsOf(lab: string): number[] {
  const isGuard = (pid: string): boolean => commandOf(pid).includes(`netloom-lab-guard ${lab}`);
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && isGuard(pid))
    .map(Number);
}

function commandOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
