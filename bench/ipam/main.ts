/**
 * How fast IPSets become Ready, beside how fast the engine alone takes them in the same run, and what one more costs among many.
 * `npm run bench:ipam`, or with a number: how many IPSets.
 */
import { readFile } from 'node:fs/promises';
import { customResourceDefinition } from '../../src/api/crd.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { allKinds } from '../../src/api/kinds.ts';
import { RunningNetloom } from '../../test/end-to-end/netloom.ts';
import { Load } from './load.ts';

const COUNT = Number(process.argv[2] ?? 10_000);
const CONNECTIONS = 16;
const NETWORKS = ['CtlPlane', 'InternalApi', 'Storage', 'Tenant', 'External'];
const GROUP = '/apis/network.openstack.org/v1beta1/namespaces/default';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const netConfig: JsonObject = {
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'NetConfig',
  metadata: { name: 'netconfig' },
  spec: {
    networks: NETWORKS.map((name, i) => ({
      name,
      dnsDomain: `${name.toLowerCase()}.example.com`,
      subnets: [
        {
          name: 'subnet1',
          cidr: `10.${i * 4}.0.0/14`,
          allocationRanges: [{ start: `10.${i * 4}.0.1`, end: `10.${i * 4 + 3}.255.254` }],
        },
      ],
    })),
  },
};

const ipSet = (i: number): JsonObject => ({
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'IPSet',
  metadata: { name: `host-${i}` },
  spec: { networks: NETWORKS.map((name) => ({ name, subnetName: 'subnet1' })) },
});

const create = (load: Load) => async (i: number) => {
  const { status, text } = await load.send('POST', `${GROUP}/ipsets`, ipSet(i));
  if (status !== 201) throw new Error(`creating an IPSet: ${status} ${text}`);
};

/** The engine with the kinds and their checks, and nobody who acts on them. */
async function engineAlone(): Promise<number> {
  const engine = await RunningNetloom.start('engine');
  const load = await Load.open(engine.kubeconfig, CONNECTIONS);
  for (const kind of allKinds)
    await load.send('POST', DEFINITIONS, JSON.parse(JSON.stringify(customResourceDefinition(kind))));
  await load.send('POST', `${GROUP}/netconfigs`, netConfig);
  const rate = await load.rate(COUNT, create(load));
  load.close();
  await engine.stopAndRemove();
  return rate;
}

/** How many of the IPSets are Ready, as a list shows. */
async function countReady(load: Load): Promise<number> {
  const { text } = await load.send('GET', `${GROUP}/ipsets`);
  return text.split('"message":"Setup complete"').length - 1;
}

async function untilReady(load: Load, count: number): Promise<void> {
  for (;;) {
    if ((await countReady(load)) >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** From the first create to the moment in which the last one is seen Ready; and what one more costs at the end. */
async function withControllers(): Promise<{
  rate: number;
  created: number;
  oneMore: number;
  cpuSeconds: number;
  memory: number;
}> {
  const up = await RunningNetloom.start('up');
  const load = await Load.open(up.kubeconfig, CONNECTIONS);
  const { status, text } = await load.send('POST', `${GROUP}/netconfigs`, netConfig);
  if (status !== 201) throw new Error(`creating the NetConfig: ${status} ${text}`);
  const began = performance.now();
  const created = await load.rate(COUNT, create(load));
  await untilReady(load, COUNT);
  const rate = COUNT / ((performance.now() - began) / 1000);
  const times: number[] = [];
  for (let i = 0; i < 50; i++) {
    const start = performance.now();
    await create(load)(COUNT + i);
    for (;;) {
      const { text } = await load.send('GET', `${GROUP}/ipsets/host-${COUNT + i}`);
      if (text.includes('Setup complete')) break;
    }
    times.push(performance.now() - start);
  }
  const [, , , , , , , , , , , , , user = 0, kernel = 0] = (await readFile(`/proc/${up.pid}/stat`, 'utf8'))
    .split(' ')
    .map(Number);
  const memory = Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${up.pid}/status`, 'utf8'))?.[1]) / 1024;
  load.close();
  await up.stopAndRemove();
  return { rate, created, oneMore: median(times), cpuSeconds: (user + kernel) / 100, memory };
}

const median = (times: number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

const alone = await engineAlone();
const { rate, created, oneMore, cpuSeconds, memory } = await withControllers();
const say = (name: string, value: string) => console.log(`${name.padEnd(58)} ${value}`);
say(`engine alone: creates of IPSets, ${CONNECTIONS} connections`, `${alone.toFixed(0)} a second`);
say('with controllers: creates meanwhile', `${created.toFixed(0)} a second`);
say(`with controllers: ${COUNT} IPSets of ${NETWORKS.length} networks to Ready`, `${rate.toFixed(0)} a second`);
say('ratio: Ready to creates of the engine alone', (rate / alone).toFixed(2));
say(`one more among ${COUNT}: create to Ready, median`, `${oneMore.toFixed(1)} ms`);
say('of the process: CPU, memory', `${cpuSeconds.toFixed(1)} s, ${memory.toFixed(0)} MiB`);
