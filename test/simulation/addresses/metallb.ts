import { Service } from '../../../src/api/core/service.ts';
import { IPAddressPool } from '../../../src/api/metallb.io/ip-address-pool.ts';
import type { Client } from '../../../src/runtime/client.ts';
import type { System } from '../../../src/runtime/clock.ts';
import { keyOfObject } from '../../../src/runtime/ref.ts';
import type { StoredChange } from '../store.ts';
import { resourceOf } from '../writes.ts';
import { addressesOf, familyOf } from './facts.ts';
import { familiesOf, portsOf, wish } from './service-rules.ts';
import type { Sight } from './sight.ts';
import { toldTo } from './told.ts';

/**
 * Somebody else who gives Services their addresses, and knows nothing of hosts. Not what MetalLB does to the letter: what matters here is
 * that addresses come, move, are shared and go by another hand than ours.
 */
export class MetalLB {
  readonly #client: Client;
  readonly #sight: Sight;
  readonly #system: System;
  #isAtIt = false;

  constructor({ client, sight, system }: { client: Client; sight: Sight; system: System }) {
    this.#client = client;
    this.#sight = sight;
    this.#system = system;
  }

  see({ resource }: StoredChange): void {
    if (resource === SERVICES || resource === POOLS) this.#begin();
  }

  #begin(): void {
    if (this.#isAtIt) return;
    this.#isAtIt = true;
    this.#system.timer(this.#system.random() * LONGEST, () => void this.#serve());
  }

  async #serve(): Promise<void> {
    this.#isAtIt = false;
    const stored = this.#sight.stored(Service);
    const told = new Map(stored.map((service) => [keyOfObject(service), toldTo.service(service)]));
    for (const service of stored) {
      const key = keyOfObject(service);
      const before = told.get(key) ?? [];
      const now = this.#addressesFor(service, before, told);
      told.set(key, now);
      if (now.join() === before.join()) continue;
      const status = { ...service.status, loadBalancer: { ingress: now.map((ip) => ({ ip })) } };
      try {
        await this.#client.updateStatus(Service, { ...service, status });
      } catch {
        this.#begin();
      }
    }
  }

  /** What it has already, as long as it may. */
  #addressesFor(service: Service, before: readonly string[], told: ReadonlyMap<string, readonly string[]>): string[] {
    if (service.spec.type !== 'LoadBalancer') return [];
    const asked = wish(service, 'loadBalancerIPs');
    const pooled = wish(service, 'address-pool');
    const usable = this.#sight
      .stored(IPAddressPool)
      .filter(({ metadata: { name } }) => pooled === undefined || pooled === name)
      .filter(({ spec: { autoAssign } }) => asked !== undefined || pooled !== undefined || autoAssign)
      .flatMap(addressesOf)
      .filter((address) => asked === undefined || asked === address)
      .filter((address) => this.#mayHave(service, address, told));
    const { wanted, oneWillDo } = familiesOf(service);
    const given = wanted.flatMap(
      (family) =>
        [...before, ...usable].find((address) => familyOf(address) === family && usable.includes(address)) ?? [],
    );
    return given.length === wanted.length || oneWillDo ? given : [];
  }

  #mayHave(service: Service, address: string, told: ReadonlyMap<string, readonly string[]>): boolean {
    const key = wish(service, 'allow-shared-ip');
    return this.#sight.stored(Service).every((other) => {
      const has = told.get(keyOfObject(other))?.includes(address) === true;
      if (!has || keyOfObject(other) === keyOfObject(service)) return true;
      const ports = portsOf(other);
      return (
        key !== undefined &&
        wish(other, 'allow-shared-ip') === key &&
        !portsOf(service).some((port) => ports.includes(port))
      );
    });
  }
}

const SERVICES = resourceOf(Service);
const POOLS = resourceOf(IPAddressPool);
/** After how long, in milliseconds, it notices something at the latest. */
const LONGEST = 2_000;
