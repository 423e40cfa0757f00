import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '../../src/api/core/pod.ts';
import { LabInTest, noLabs } from './lab-in-test.ts';
import { Witness } from './witness.ts';

const LAB = `
switches:
  rack: { subnet: 10.91.9.0/24 }
hosts: ['@a', '@b', '@c']
`;

const isSoak = process.env['NETLOOM_SOAK'] === '1';
/** How often, and how much each time. */
const [ROUNDS, HAPPENINGS] = isSoak ? [20, 8] : [1, 5];
const seed = Number(process.env['NETLOOM_SEED'] ?? (isSoak ? Date.now() % 100_000 : 1));

/** Chance that can be had again. */
function chance(seed: number): <T>(from: readonly T[]) => T {
  let state = seed;
  return (from) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return from[(state >> 8) % from.length] as (typeof from)[number];
  };
}

describe('a lab to which everything happens', { skip: noLabs }, () => {
  const witness = new Witness();
  const pick = chance(seed);
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

  const happenings: readonly (() => Promise<unknown>)[] = [
    () => lab.tried(['lab', 'cut', pick(hosts), 'management']),
    () => lab.tried(['lab', 'cut', pick(hosts)]),
    () => lab.tried(['lab', 'kill', pick(hosts)]),
    () => lab.tried(['lab', 'kill', pick(hosts), 'agent']),
    () => lab.tried(['lab', 'kill', pick(hosts), 'supervisor']),
    () => lab.tried(['lab', 'heal', pick(hosts)]),
    () => lab.upAgain(),
    () => lab.restartNetloom(),
    () => lab.kubectl(`delete node ${pick(hosts)}`),
    () => lab.kubectl(`cordon ${pick(hosts)}`),
    () => lab.kubectl('rollout restart deployment/web'),
    () => lab.kubectl(`scale deployment/web --replicas=${pick([3, 6, 9])}`),
    async () => {
      const { keeper } = JSON.parse((await lab.tried(['lab', 'status', lab.name, '-o', 'json'])).stdout || '{}');
      if (keeper !== undefined) process.kill(keeper, 'SIGKILL');
    },
  ];

  for (let round = 0; round < ROUNDS; round += 1) {
    test(`runs everything once when it is whole again, round ${round} of seed ${seed}`, async () => {
      for (let i = 0; i < HAPPENINGS; i += 1) {
        await pick(happenings)();
        await sleep(pick([0, 200, 1_000, 3_000]));
      }
      await lab.upAgain();
      for (const host of hosts) {
        await lab.becomesReady(host, true);
        await lab.ok(`uncordon ${host}`);
      }
      await lab.ok('scale deployment/web --replicas=6');
      await lab.eventually(
        async () => {
          const { items } = JSON.parse(await lab.ok('get pods -o json')) as { items: Pod[] };
          const running = witness.running().map(({ pod }) => pod);
          return { api: items.map(({ metadata }) => metadata.uid).sort(), running: running.sort() };
        },
        ({ api, running }) => running.length === 6 && `${running}` === `${api}`,
        120,
      );
      await lab.ok('rollout status deployment/web --timeout=60s');
    });
  }
});
