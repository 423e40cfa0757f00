import type { Condition } from '../../../src/api/condition.ts';
import { IPAddressPool } from '../../../src/api/metallb.io/ip-address-pool.ts';
import type { AddressClaim } from '../../../src/api/netloom.io/address-claim.ts';
import type { IPSet, NetworkRequest } from '../../../src/api/network.openstack.org/ipset.ts';
import { Books } from './books.ts';
import { addressesBetween, addressesOf, NEVER_GIVEN } from './facts.ts';
import type { Sight } from './sight.ts';

/** Whether what a host says about what it lacks is true. */
export class Reasons {
  readonly #books: Books;
  readonly #pools: ReadonlySet<string>;

  constructor(sight: Sight) {
    this.#books = new Books(sight);
    this.#pools = new Set(sight.stored(IPAddressPool).flatMap(addressesOf));
  }

  /** `told`: the addresses that it says it has. */
  faultsOf(
    { kind, metadata: { namespace = '', name } }: IPSet | AddressClaim,
    requests: readonly NetworkRequest[],
    told: readonly string[],
    conditions: readonly Condition[] = [],
  ): string[] {
    const who = `${kind} ${namespace}/${name}`;
    const ready = conditions.find(({ type }) => type === 'Ready');
    const message = ready?.message ?? '';
    if (ready?.status === 'True')
      return told.length === requests.length ? [] : [`${who} is Ready, and lacks something`];
    if (message.startsWith('NetConfig missing') || message.includes(' NetConfig missing')) {
      return this.#subnets(namespace) === undefined ? [] : [`${who} says that there is no NetConfig`];
    }
    const reasons = REASONS.flatMap((reason) =>
      [...message.matchAll(reason.pattern)].map((match) => ({ reason, match })),
    );
    const faults = reasons.flatMap(({ reason, match: [, ...words] }) => {
      const fault = reason.fault(this, namespace, words);
      return fault === undefined ? [] : [`${who} says "${message}", but ${fault}`];
    });
    const lacking = requests.length - told.length;
    if (reasons.length < lacking) faults.push(`${who} lacks ${lacking}, and says no more than "${message}"`);
    return faults;
  }

  isFull(namespace: string, [network = '', subnet = '']: readonly string[]): string | undefined {
    const definition = this.#subnets(namespace)?.find((one) => one.network === network && one.name === subnet);
    if (definition === undefined) return `there is no ${network}/${subnet}`;
    const free = definition.allocationRanges
      .flatMap(({ start, end }) => addressesBetween(start, end))
      .find(
        (address) =>
          !NEVER_GIVEN.has(address) &&
          !this.#pools.has(address) &&
          definition.excludeAddresses?.includes(address) !== true &&
          this.#books.holding(`${namespace}/underlay`, address) === undefined,
      );
    return free === undefined ? undefined : `${free} is free`;
  }

  isHeld(namespace: string, [address = '', kind, name]: readonly string[]): string | undefined {
    const holder = this.#books.holding(`${namespace}/underlay`, address)?.holder;
    if (holder?.kind === kind && holder?.name === name) return undefined;
    return `${address} is ${holder === undefined ? 'free' : `that of ${holder.kind} ${holder.name}`}`;
  }

  isOnRecord(namespace: string, [address = '']: readonly string[]): string | undefined {
    const holding = this.#books.holding(`${namespace}/underlay`, address);
    return holding === undefined ? `${address} is free` : undefined;
  }

  isExcluded(namespace: string, [address = '']: readonly string[]): string | undefined {
    const isIt = this.#subnets(namespace)?.some(({ excludeAddresses = [] }) => excludeAddresses.includes(address));
    return isIt === true ? undefined : `${address} is not excluded`;
  }

  /** Of the NetConfig that counts. */
  #subnets(namespace: string) {
    const netConfig = this.#books.netConfigs.find(({ metadata }) => metadata.namespace === namespace);
    return netConfig?.spec.networks.flatMap(({ name: network, subnets }) =>
      subnets.map((subnet) => ({ ...subnet, network })),
    );
  }
}

interface Reason {
  readonly pattern: RegExp;
  /** What speaks against it. `words`: what the pattern has found. */
  fault(reasons: Reasons, namespace: string, words: readonly string[]): string | undefined;
}

/** Everything that may be said in the end, when nobody is on his way out and nothing cools down. */
const REASONS: readonly Reason[] = [
  {
    pattern: /in network (\S+) subnet (\S+): (?:none|nothing) of/g,
    fault: (reasons, ...where) => reasons.isFull(...where),
  },
  { pattern: /(\S+) already reserved by (\S+) ([^;\s]+);/g, fault: (reasons, ...where) => reasons.isHeld(...where) },
  { pattern: /(\S+) is given only once/g, fault: (reasons, ...where) => reasons.isOnRecord(...where) },
  { pattern: /FixedIP (\S+) is in ExcludeAddresses/g, fault: (reasons, ...where) => reasons.isExcluded(...where) },
];
