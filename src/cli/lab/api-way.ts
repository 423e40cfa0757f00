import { readRecord } from '../../lab/state/record.ts';
import { API_PORT } from '../../lab/works/api.ts';
import { backoff } from '../../runtime/backoff.ts';
import type { System } from '../../runtime/clock.ts';
import { readKubeconfig } from '../../runtime/kubeconfig.ts';
import { asError, type Log } from '../../runtime/log.ts';
import { ApiRelay } from '../../services/host/api-relay.ts';

/**
 * The way of a lab's hosts to the API, which listens where only this machine reaches it: what comes in on the management bridge is
 * handed on as it is. Where the API is, the kubeconfig says, and it may say something else later.
 */
export class ApiWay {
  readonly #lab: string;
  readonly #system: System;
  readonly #log: Log;
  #relay: { way: string; relay: ApiRelay } | undefined;
  #failures = 0;
  #cancel: () => void = () => {};
  #work: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor({ lab, system, log }: { lab: string; system: System; log: Log }) {
    this.#lab = lab;
    this.#system = system;
    this.#log = log;
  }

  refresh(): void {
    this.#cancel();
    this.#work = this.#work.then(() => this.#look());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#work;
    await this.#relay?.relay.stop();
  }

  async #look(): Promise<void> {
    if (this.#isStopped) return;
    let after = EVERY;
    try {
      await this.#lead();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      after = backoff(this.#failures, { first: 500, max: 10_000 }, this.#system);
      if (this.#failures === 1) this.#log.warn('hosts cannot reach the API', { reason: asError(error).message });
    }
    this.#cancel = this.#system.timer(after, () => this.refresh());
  }

  async #lead(): Promise<void> {
    const record = readRecord(this.#lab);
    if (record?.api === undefined) return;
    const { server } = await readKubeconfig(record.api.kubeconfig);
    const [address = ''] = record.plan.management.address.split('/', 1);
    const way = `${address} to ${server}`;
    if (this.#relay?.way === way) return;
    await this.#relay?.relay.stop();
    this.#relay = undefined;
    const { hostname, port, protocol } = new URL(server);
    const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
    this.#relay = { way, relay: await ApiRelay.start({ address, port: API_PORT, target }) };
    this.#log.info('hosts reach the API', { server, address: `${address}:${API_PORT}` });
  }
}

/** So often the kubeconfig is looked at. */
const EVERY = 2_000;
