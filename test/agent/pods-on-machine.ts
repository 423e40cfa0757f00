import assert from 'node:assert/strict';
import { join } from 'node:path';
import { ServiceAccount } from '../../src/api/core/config.ts';
import type { Pod } from '../../src/api/core/pod.ts';
import { NAMESPACE, PodsByApi, shell, statusIn } from '../../src/pods/host/pods-by-api.fixture.ts';
import { conditionOf } from '../../src/pods/pod-state.ts';
import { MachineInTest } from './machine-in-test.ts';

/** A neighbour that writes no line for so long was disturbed, in milliseconds; it writes ten a second. */
const LONGEST_SILENCE = 8_000;

/** A machine with `netloom up` and its agent, pods on it, and one among them that is to notice nothing of the others. */
export class PodsOnMachine extends PodsByApi {
  readonly machine: MachineInTest;
  #neighbour: Pod | undefined;

  private constructor(machine: MachineInTest, client: PodsByApi['client']) {
    super(client, { node: machine.name, stateDirectory: join(machine.folder, 'state') });
    this.machine = machine;
  }

  static async start(): Promise<PodsOnMachine> {
    const machine = await MachineInTest.start();
    try {
      const pods = new PodsOnMachine(machine, await machine.client());
      await machine.eventually(
        () => pods.client.get(ServiceAccount, 'default', NAMESPACE),
        (found) => found !== undefined,
      );
      await pods.#settleNeighbour();
      return pods;
    } catch (error) {
      await machine.destroy();
      throw error;
    }
  }

  async end(): Promise<void> {
    await this.machine.destroy();
  }

  /** Whatever has happened to others: it runs as it was started, was ready all the time, and never stopped writing. */
  async neighbourIsUndisturbed(): Promise<void> {
    const before = this.#neighbour;
    assert.ok(before, 'there is no neighbour');
    const now = await this.get('neighbour');
    assert.ok(now, 'the neighbour is gone');
    assert.equal(statusIn(now).restartCount, 0);
    assert.equal(statusIn(now).containerID, statusIn(before).containerID);
    assert.deepEqual(conditionOf(now, 'Ready'), conditionOf(before, 'Ready'));
    const times = [...this.logTimes(now), Date.now()];
    const silences = times.slice(1).map((time, i) => time - (times[i] ?? time));
    const longest = Math.max(...silences);
    assert.ok(longest < LONGEST_SILENCE, `the neighbour wrote nothing for ${longest} ms`);
  }

  async #settleNeighbour(): Promise<void> {
    const probe = { periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 2 };
    const container = shell(
      'mkdir /tmp/served && cd /tmp/served && python3 -m http.server 8080 >/dev/null 2>&1 & while :; do echo tick; sleep 0.1; done',
      {
        readinessProbe: { httpGet: { port: 8080 }, ...probe },
        livenessProbe: { exec: { command: ['true'] }, ...probe },
      },
    );
    await this.pod('neighbour', [container]);
    this.#neighbour = await this.ready('neighbour');
  }
}
