import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ConfigMap, Secret, ServiceAccount } from '../../src/api/core/config.ts';
import { Pod } from '../../src/api/core/pod.ts';
import { Service } from '../../src/api/core/service.ts';
import type { Client } from '../../src/runtime/client.ts';
import { Informer } from '../../src/runtime/informer.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { system } from '../../src/runtime/system.ts';
import { type Belongings, belongingsOf, differences } from './belongings.ts';
import { LIVES, type Life } from './lives.ts';
import { MachineInTest } from './machine-in-test.ts';

const PODS = process.env['NETLOOM_SOAK'] === '1' ? 500 : 100;
/** At a time: the others wait until one of them is gone. */
const ALIVE = 20;
const NAMESPACE = 'default';
const PATIENCE = 60_000;

describe('pods that come and go', { skip: process.getuid?.() === 0 ? false : 'needs root' }, () => {
  let machine: MachineInTest;
  let client: Client;
  let informer: Informer<Pod>;
  let empty: Belongings;
  const uids = new Set<string>();
  before(async () => {
    machine = await MachineInTest.start();
    client = await machine.client();
    informer = new Informer({ client, kind: Pod, system, log: silentLog });
    informer.onChange(({ now }) => now && uids.add(now.metadata.uid));
    informer.start();
    await makeWhatTheyNeed();
    // What a host makes for its first pod, and keeps, is no leak.
    await Promise.all(LIVES.map((life) => live(life, `first-${life.name}`)));
    empty = await emptied();
  });
  after(async () => {
    await informer?.stop();
    await machine.destroy();
  });

  async function makeWhatTheyNeed(): Promise<void> {
    await machine.eventually(
      () => client.get(ServiceAccount, 'default', NAMESPACE),
      (found) => found !== undefined,
    );
    const metadata = { name: 'things', namespace: NAMESPACE };
    await client.create(ConfigMap, { metadata, data: { file: 'one', other: 'two' } });
    await client.create(Secret, { metadata, data: { key: Buffer.from('three').toString('base64') } });
    const spec = { selector: { app: 'churn' }, ports: [{ port: 80, targetPort: 8080 }] };
    await client.create(Service, { metadata, spec });
  }

  /** The pod as the API has it, as soon as it is so; undefined when there is none. */
  function until(name: string, isSo: (pod: Pod | undefined) => boolean): Promise<void> {
    const find = (): Pod | undefined => informer.cache.get({ namespace: NAMESPACE, name });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`pod ${name} is not so yet: ${JSON.stringify(find()?.status)}`));
      }, PATIENCE);
      const cancel = informer.onChange(() => {
        if (!isSo(find())) return;
        clearTimeout(timer);
        queueMicrotask(() => cancel());
        resolve();
      });
    });
  }

  async function live({ spec, isThere, grace }: Life, name: string): Promise<void> {
    const metadata = { name, namespace: NAMESPACE, labels: { app: 'churn' } };
    await client.create(Pod, {
      metadata,
      spec: { nodeName: machine.name, terminationGracePeriodSeconds: 1, ...spec(machine.folder) },
    });
    if (isThere !== undefined) await until(name, (pod) => pod !== undefined && isThere(pod));
    await client.delete(Pod, metadata, grace === undefined ? {} : { gracePeriodSeconds: grace });
    await until(name, (pod) => pod === undefined);
  }

  /** As it is when nothing of any pod is there: the last one may leave the API a moment before the host is done with it. */
  async function emptied(): Promise<Belongings> {
    const end = Date.now() + PATIENCE;
    for (;;) {
      const now = await belongingsOf(machine, uids);
      if (['files', 'networks', 'mounts'].every((what) => now[what]?.length === 0)) return now;
      assert.ok(Date.now() < end, `something stays: ${JSON.stringify(now)}`);
      await pause(100);
    }
  }

  /** Waits as long as there is hope. */
  async function nothingIsLeft(): Promise<void> {
    const end = Date.now() + PATIENCE;
    for (;;) {
      const found = differences(empty, await belongingsOf(machine, uids));
      if (found.length === 0 || Date.now() > end) {
        assert.deepEqual(found, []);
        return;
      }
      await pause(200);
    }
  }

  async function churn(lives: readonly Life[], count: number): Promise<void> {
    let begun = 0;
    const one = async (): Promise<void> => {
      while (begun < count) {
        const number = begun;
        begun += 1;
        const life = lives[number % lives.length] as Life;
        await live(life, `${life.name}-${number}`);
      }
    };
    await Promise.all(Array.from({ length: ALIVE }, one));
  }

  test(`${PODS} of them leave nothing, however they have lived and ended`, async () => {
    await churn(LIVES, PODS);
    await nothingIsLeft();
  });

  test('agents and supervisors that die among them leave nothing either', async () => {
    const churning = churn(LIVES, PODS / 2);
    for (let round = 0; round < PODS / 50; round += 1) {
      // Whoever dies more often than a pod takes to come lets none of them come.
      await pause(round < 2 ? 1_500 : 5_000);
      await machine.end('agent', 'SIGKILL');
      await machine.startAgent();
      await pause(1_500);
      process.kill(machine.supervisor, 'SIGKILL');
    }
    await churning;
    await nothingIsLeft();
  });
});
