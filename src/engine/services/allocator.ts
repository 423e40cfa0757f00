import { Address } from '../../api/address.ts';
import type { JsonObject } from '../../api/json.ts';
import { type FieldError, internalError, invalid } from '../../api/status.ts';
import { isHeadless } from '../builtin/core/service-changes.ts';
import { invalidValue } from '../builtin/field-errors.ts';
import { ipFamily } from '../builtin/ip-text.ts';
import { metadataOf, nameOf, specOf, textAt, textsAt } from '../builtin/reading.ts';
import { decode } from '../objects/encoding.ts';
import type { Rules } from '../resources/resource.ts';
import type { Store } from '../store/store.ts';
import type { Version } from '../store/version.ts';
import { ServiceAddresses } from './address-range.ts';
import { Holdings } from './holdings.ts';
import { settleFamilies } from './ip-families.ts';
import { giveNodePorts, nodePortsOf } from './node-ports.ts';
import type { PortRange, ServiceRanges } from './ranges.ts';

/**
 * Gives Services their addresses and ports. What is taken is what the store says, plus what writes under way are about to
 * store: nothing of it is kept anywhere else, so nothing can be lost or leak.
 */
export class ServiceAllocator {
  readonly ranges: readonly ServiceAddresses[];
  readonly #nodePorts: PortRange;
  readonly #addresses = new Holdings<string>();
  readonly #ports = new Holdings<number>();
  #following: { close(): void } | undefined;

  constructor({ networks, nodePorts }: ServiceRanges) {
    this.ranges = networks.map((network) => new ServiceAddresses(network));
    this.#nodePorts = nodePorts;
  }

  /** Follows what is stored, from what is there now. */
  follow(store: Store): void {
    const from = store.revision;
    for (const version of store.list({ resource: 'services' }).versions) this.#stored(version);
    this.#following = store.watch({ resource: 'services', after: from }, (events) => {
      for (const { type, current, previous } of events) {
        if (type !== 'DELETED') this.#stored(current);
        if (previous !== undefined) this.#replaced(previous);
      }
    });
  }

  stop(): void {
    this.#following?.close();
  }

  /** The rules of Services with this one added. */
  readonly rules = (base: Rules): Rules => ({
    ...base,
    allocate: (service, old) => this.allocate(service, old),
  });

  /** Until the function that it returns is called, nobody else gets what the Service was given. */
  allocate(service: JsonObject, old: JsonObject | undefined): () => void {
    const claim = new Claim(uidOf(service), this.#addresses, this.#ports);
    try {
      const spec = specOf(service);
      const before = old === undefined ? undefined : specOf(old);
      const families = this.ranges.map(({ family }) => family);
      refuse(service, settleFamilies(spec, before, families));
      this.#giveAddresses(service, before, claim);
      giveNodePorts(service, before, this.#nodePorts, claim.ports);
      return () => claim.end();
    } catch (error) {
      claim.end();
      throw error;
    }
  }

  #giveAddresses(service: JsonObject, before: JsonObject | undefined, claim: Claim): void {
    const spec = specOf(service);
    if (textAt(spec, 'type') === 'ExternalName' || isHeadless(spec)) return;
    const known = new Set(before === undefined ? [] : addressesOf(before));
    const addresses = textsAt(spec, 'clusterIPs');
    for (const [i, family] of textsAt(spec, 'ipFamilies').entries()) {
      const wanted = addresses[i] ?? '';
      if (wanted !== '' && known.has(canonical(wanted))) continue;
      const range = this.ranges.find((each) => each.family === family);
      if (range === undefined) continue;
      addresses[i] = wanted === '' ? this.#draw(range, claim) : wanted;
      if (wanted !== '') refuse(service, this.#take(range, wanted, addresses, claim));
    }
    if (addresses.length === 0) return;
    spec['clusterIPs'] = addresses;
    spec['clusterIP'] = addresses[0] ?? '';
  }

  #draw(range: ServiceAddresses, claim: Claim): string {
    const address = range.draw(this.#addresses, claim.uid);
    if (address === undefined) throw internalError('failed to allocate a serviceIP: range is full');
    claim.address(address);
    return address;
  }

  #take(range: ServiceAddresses, wanted: string, all: readonly string[], claim: Claim): FieldError[] {
    const refused = (why: string): FieldError[] => [
      invalidValue('spec.clusterIPs', all, `failed to allocate IP ${wanted}: ${why}`),
    ];
    const address = Address.parse(canonical(wanted));
    if (address === undefined || !range.contains(address)) {
      return refused(
        `the provided IP (${wanted}) is not in the valid range. The range of valid IPs is ${range.network}`,
      );
    }
    if (!this.#addresses.isFree(`${address}`, claim.uid)) return refused('provided IP is already allocated');
    claim.address(`${address}`);
    return [];
  }

  #stored(version: Version): void {
    const service = decode(version.bytes);
    for (const address of addressesOf(specOf(service))) this.#addresses.take(address, uidOf(service));
    for (const port of nodePortsOf(specOf(service))) this.#ports.take(port, uidOf(service));
  }

  #replaced(version: Version): void {
    const service = decode(version.bytes);
    for (const address of addressesOf(specOf(service))) this.#addresses.giveBack(address, uidOf(service));
    for (const port of nodePortsOf(specOf(service))) this.#ports.giveBack(port, uidOf(service));
  }
}

/** What one write under way holds. */
class Claim {
  readonly uid: string;
  readonly ports;
  readonly #held: (() => void)[] = [];
  readonly #addresses: Holdings<string>;

  constructor(uid: string, addresses: Holdings<string>, ports: Holdings<number>) {
    this.uid = uid;
    this.#addresses = addresses;
    this.ports = {
      isFree: (port: number) => ports.isFree(port, uid),
      take: (port: number) => {
        ports.take(port, uid);
        this.#held.push(() => ports.giveBack(port, uid));
      },
    };
  }

  address(address: string): void {
    this.#addresses.take(address, this.uid);
    this.#held.push(() => this.#addresses.giveBack(address, this.uid));
  }

  end(): void {
    for (const giveBack of this.#held.splice(0)) giveBack();
  }
}

function addressesOf(spec: JsonObject): string[] {
  return [...new Set([textAt(spec, 'clusterIP'), ...textsAt(spec, 'clusterIPs')])]
    .filter((address) => ipFamily(address) !== 0)
    .map(canonical);
}

/** Old fields of the API take zeros in front; they mean the same address. */
const canonical = (address: string): string => {
  const plain = address.includes(':') ? address : address.replace(/\b0+(?=\d)/g, '');
  return Address.parse(plain)?.toString() ?? address;
};

const uidOf = (service: JsonObject): string => textAt(metadataOf(service), 'uid');

function refuse(service: JsonObject, faults: readonly FieldError[]): void {
  if (faults.length > 0) throw invalid({ group: '', kind: 'Service' }, nameOf(service), faults);
}
