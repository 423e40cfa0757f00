import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../src/api/json.ts';
import type { BenchLab } from '../pods/bench-lab.ts';
import { Samples } from '../shared/samples.ts';
import { Asking, moment } from './asking.ts';

const NETWORK = '/apis/network.openstack.org/v1beta1/namespaces/default';
const DNSMASQS = `${NETWORK}/dnsmasqs`;
const DNSDATA = `${NETWORK}/dnsdata`;
const DEPLOYMENT = '/apis/apps/v1/namespaces/default/deployments/dnsmasq-bench';

/** A DNSMasq of one pod in a lab, asked from one of the lab's hosts by its ClusterIP. */
export class NameServers {
  readonly #lab: BenchLab;
  readonly #asking: Asking;
  readonly #names: string[] = [];
  #each = 0;
  #changed = 0;
  #lost: number | undefined;

  private constructor(lab: BenchLab, asking: Asking) {
    this.#lab = lab;
    this.#asking = asking;
  }

  static async start(lab: BenchLab): Promise<NameServers> {
    await lab.load.ask('POST', DNSMASQS, {
      apiVersion: 'network.openstack.org/v1beta1',
      kind: 'DNSMasq',
      metadata: { name: 'bench' },
      spec: { replicas: 1, dnsDataLabelSelectorValue: 'bench' },
    });
    for (;;) {
      const { status = {} } = JSON.parse(await lab.load.ask('GET', `${DNSMASQS}/bench`));
      const [ready] = status.conditions ?? [];
      if (ready?.status === 'True')
        return new NameServers(lab, new Asking(status.dnsClusterAddresses[0], lab.networkOf(0)));
      await sleep(50);
    }
  }

  /** Creates records, and returns how many milliseconds it took until the last ones of each object were answered. */
  async load({ objects, each }: { objects: number; each: number }): Promise<number> {
    this.#each = each;
    const began = moment();
    for (let i = 0; i < objects; i += 1) {
      const name = `bench-${i}`;
      this.#names.push(name);
      const hosts = Array.from({ length: each }, (_, j) => ({ ip: addressOf(i, j), hostnames: [hostOf(i, j)] }));
      await this.#lab.load.ask('POST', DNSDATA, {
        apiVersion: 'network.openstack.org/v1beta1',
        kind: 'DNSData',
        metadata: { name },
        spec: { dnsDataLabelSelectorValue: 'bench', hosts },
      });
    }
    let last = began;
    for (let i = 0; i < objects; i += 1) last = await this.#asking.becomes(hostOf(i, each - 1), addressOf(i, each - 1));
    return last - began;
  }

  /** One record after the other gets another address. */
  async changes(times: number): Promise<Samples> {
    const took: number[] = [];
    for (let i = 0; i < times; i += 1) {
      this.#changed += 1;
      const object = this.#changed % this.#names.length;
      const record = (this.#changed * 7919) % this.#each;
      const address = `172.31.${this.#changed >> 8}.${this.#changed & 255}`;
      const patch: JsonObject[] = [{ op: 'replace', path: `/spec/hosts/${record}/ip`, value: address }];
      const answered = this.#asking.becomes(hostOf(object, record), address);
      const began = moment();
      await this.#lab.load.ask('PATCH', `${DNSDATA}/${this.#names[object]}`, patch);
      took.push((await answered) - began);
      // Not while the last change is still being written down.
      await sleep(100);
    }
    return new Samples(took);
  }

  /** The pods are exchanged for others of the same kind. */
  async rolls(times: number): Promise<Samples> {
    const took: number[] = [];
    for (let i = 0; i < times; i += 1) {
      const began = moment();
      const annotations = { 'netloom.io/bench': `${i}` };
      await this.#lab.load.ask('PATCH', DEPLOYMENT, { spec: { template: { metadata: { annotations } } } });
      while (!(await this.#isRolled())) await sleep(5);
      took.push(moment() - began);
    }
    return new Samples(took);
  }

  /** Returns how many questions were lost. */
  async stop(): Promise<number> {
    if (this.#lost !== undefined) return this.#lost;
    this.#lost = Number.NaN;
    for (const name of this.#names) await this.#lab.load.send('DELETE', `${DNSDATA}/${name}`);
    await this.#lab.load.send('DELETE', `${DNSMASQS}/bench`);
    const lost = this.#asking.end();
    this.#lost = await Promise.race([lost, sleep(5_000, Number.NaN)]);
    this.#asking.kill();
    return this.#lost;
  }

  async #isRolled(): Promise<boolean> {
    const { metadata, status } = JSON.parse(await this.#lab.load.ask('GET', DEPLOYMENT));
    const { observedGeneration, replicas, updatedReplicas, readyReplicas } = status;
    const isDone = replicas === 1 && updatedReplicas === 1 && readyReplicas === 1;
    return isDone && observedGeneration === metadata.generation;
  }
}

const addressOf = (object: number, record: number): string => `10.${object}.${record >> 8}.${record & 255}`;
const hostOf = (object: number, record: number): string => `host-${record}.part-${object}.example.com`;
