import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { storm } from '../../../test/simulation/faults.ts';
import type { Container, PodSpec } from '../../api/core/pod.ts';
import { NAMESPACE, SimulatedHost } from './pod-host.fixture.ts';
import type { Behaviour } from './simulated-runtime.fixture.ts';

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  serve: { stopsWithin: 50 },
  deaf: {},
  done: { ends: { after: 300, exitCode: 0 }, stopsWithin: 10 },
  crash: { ends: { after: 700, exitCode: 1 }, stopsWithin: 10 },
  broken: { fails: 'no such command' },
};

const command = fc.constantFrom(...Object.keys(BEHAVIOURS));

const podSpec = fc
  .record({
    restartPolicy: fc.constantFrom('Always' as const, 'OnFailure' as const, 'Never' as const),
    main: fc.array(command, { minLength: 1, maxLength: 2 }),
    init: fc.array(fc.record({ command, isSidecar: fc.boolean() }), { maxLength: 2 }),
    grace: fc.integer({ min: 0, max: 5 }),
  })
  .map(({ restartPolicy, main, init, grace }): Omit<PodSpec, 'nodeName'> => {
    return {
      restartPolicy,
      terminationGracePeriodSeconds: grace,
      initContainers: init.map(({ command, isSidecar }, i): Container => {
        const sidecar = isSidecar ? { restartPolicy: 'Always' as const } : {};
        return { name: `init-${i}`, command: [command], ...sidecar };
      }),
      containers: main.map((command, i) => ({ name: `main-${i}`, command: [command] })),
    };
  });

const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('create' as const), spec: podSpec }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), grace: fc.option(fc.constantFrom(0, 1)) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 15_000 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart the agent' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart the machine' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop the API' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop the runtime' as const) }) },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

test('whatever happens to pods and to the host, nothing runs twice, and nothing is left in the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 20 }), fc.nat(), async (actions, seed) => {
      const host = await SimulatedHost.create(undefined, { seed, faults: storm });
      try {
        for (const [command, behaviour] of Object.entries(BEHAVIOURS)) host.behaviours.set(command, behaviour);
        const names: string[] = [];
        for (const each of actions) {
          await act(host, names, each);
          nothingRunsTwice(host);
        }
        await leave(host, names);
      } finally {
        await host.end();
      }
    }),
    { numRuns: 40 },
  );
});

async function act(host: SimulatedHost, names: string[], action: Action): Promise<void> {
  switch (action.do) {
    case 'create': {
      const name = `pod-${names.length}`;
      const { containers, ...spec } = action.spec;
      await host.pod(name, containers, spec);
      names.push(name);
      break;
    }
    case 'delete': {
      const name = names.find((each) => host.find(each) !== undefined);
      if (name !== undefined) await host.delete(name, action.grace ?? undefined);
      break;
    }
    case 'wait':
      await host.settle(action.ms);
      break;
    case 'restart the agent':
      await host.quit();
      await host.settle(5_000);
      await host.begin();
      break;
    case 'restart the machine':
      await host.quit();
      host.runtime.lose();
      host.network.attached.clear();
      await host.begin();
      break;
    case 'stop the API':
      host.world.api.stop();
      await host.settle(20_000);
      host.world.api.start();
      break;
    default:
      host.runtime.away = new Error('the supervisor does not answer');
      await host.settle(5_000);
      host.runtime.away = undefined;
  }
}

function nothingRunsTwice(host: SimulatedHost): void {
  const running = host.runtime.running.map(({ sandbox, name }) => `${sandbox} ${name}`);
  assert.deepEqual(running, [...new Set(running)]);
  const addresses = [...host.network.attached.values()].flat();
  assert.deepEqual(addresses, [...new Set(addresses)]);
  const { started } = host.runtime;
  assert.deepEqual(started, [...new Set(started)]);
}

async function leave(host: SimulatedHost, names: readonly string[]): Promise<void> {
  for (const name of names) if (host.find(name) !== undefined) await host.delete(name);
  const isOver = (): boolean =>
    names.every((name) => host.find(name) === undefined && host.host.find(NAMESPACE, name) === undefined) &&
    host.runtime.sandboxes.length === 0 &&
    host.network.attached.size === 0 &&
    ['pods', 'logs'].every((folder) => namesIn(`${host.directory}/${folder}`).length === 0);
  await host.until(isOver, 3_600_000, 5_000);
  assert.deepEqual(host.runtime.running, []);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
