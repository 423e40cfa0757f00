import type { JsonObject } from '../../src/api/json.ts';
import type { BenchLab } from '../pods/bench-lab.ts';

const SERVICES = '/api/v1/namespaces/default/services';
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
/** So many endpoints a slice of a cluster has at most. */
const MOST = 100;

export interface Wanted {
  readonly name: string;
  readonly port: number;
  /** Of its endpoints. */
  readonly addresses: readonly string[];
}

/** Addresses that no pod of a lab has. */
export const nowhere = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `10.250.${i >> 8}.${i & 255}`);

/** A Service whose endpoints are written here, as they are where somebody else keeps them. */
export class ServiceByHand implements AsyncDisposable {
  readonly #lab: BenchLab;
  readonly #wanted: Wanted;
  readonly #unready = new Set<string>();

  private constructor(lab: BenchLab, wanted: Wanted) {
    this.#lab = lab;
    this.#wanted = wanted;
  }

  /** Its endpoints are there; it is not. */
  static async prepare(lab: BenchLab, wanted: Wanted): Promise<ServiceByHand> {
    const made = new ServiceByHand(lab, wanted);
    for (let i = 0; i < made.#slices; i += 1) await lab.load.ask('POST', SLICES, made.#slice(i));
    return made;
  }

  /** @returns its address */
  async create(): Promise<string> {
    const { name, port } = this.#wanted;
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ name: 'it', port }] } };
    return JSON.parse(await this.#lab.load.ask('POST', SERVICES, service)).spec.clusterIP;
  }

  /** An endpoint becomes ready, or ceases to be. */
  async turn(address: string): Promise<void> {
    if (!this.#unready.delete(address)) this.#unready.add(address);
    const which = Math.floor(this.#wanted.addresses.indexOf(address) / MOST);
    await this.#lab.load.ask('PUT', `${SLICES}/${this.#wanted.name}-${which}`, this.#slice(which));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { name } = this.#wanted;
    await this.#lab.load.send('DELETE', `${SERVICES}/${name}`);
    for (let i = 0; i < this.#slices; i += 1) await this.#lab.load.send('DELETE', `${SLICES}/${name}-${i}`);
  }

  get #slices(): number {
    return Math.ceil(this.#wanted.addresses.length / MOST);
  }

  #slice(which: number): JsonObject {
    const { name, port, addresses } = this.#wanted;
    return {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `${name}-${which}`, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: 'it', protocol: 'TCP', port }],
      endpoints: addresses.slice(which * MOST, (which + 1) * MOST).map((address) => ({
        addresses: [address],
        conditions: { ready: !this.#unready.has(address) },
      })),
    };
  }
}
