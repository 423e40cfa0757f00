import { Address, compareAddresses } from '../../api/address.ts';
import type { ServiceL2Status } from '../../api/metallb.io/service-l2-status.ts';
import type { AddressBlock, AddressHolder, AddressHolding } from '../../api/netloom.io/address-block.ts';
import { IPSet } from '../../api/network.openstack.org/ipset.ts';
import type { Question } from './question.ts';

/** Who has an address, as far as anybody knows. Printed as it is by `-o json`: fields may be added, none change. */
export interface Holder {
  readonly address: string;
  /** Within what the address is unique, together with the namespace that the record of it is in. */
  readonly space: string;
  readonly namespace: string;
  readonly holder: HolderName;
  /** What the address is to the holder, where no ledger gave it; network, subnet and space are empty then. */
  readonly as?: string;
  /** The network and the subnet; of the address of a Service the pool, and no subnet. */
  readonly network: string;
  readonly subnet: string;
  readonly since: string;
  /** The holder has given it back, and nobody else gets it before. */
  readonly coolsUntil?: string;
  /** The machine that has the address, where an object says which. */
  readonly host?: string;
  readonly interfaces?: readonly string[];
  /** Everybody who uses the address, where several share it. */
  readonly sharers?: readonly HolderName[];
}

export interface HolderName {
  readonly apiGroup: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Which holdings are asked for. */
export interface Wanted {
  matches(address: Address, holders: readonly HolderName[]): boolean;
}

/** `kind`: what the kind of a question by name is called; left out where any will do. */
export function wantedBy(question: Question, scope: { readonly kind?: string; readonly namespace?: string }): Wanted {
  const inNamespace = (holders: readonly HolderName[]) =>
    scope.namespace === undefined ? holders : holders.filter(({ namespace }) => namespace === scope.namespace);
  switch (question.is) {
    case 'address':
      return { matches: (address, holders) => address.equals(question.address) && inNamespace(holders).length > 0 };
    case 'prefix':
      return { matches: (address, holders) => question.prefix.contains(address) && inNamespace(holders).length > 0 };
    case 'name':
      return {
        matches: (_, holders) =>
          inNamespace(holders).some(
            ({ kind, name }) => name === question.name && (scope.kind === undefined || kind === scope.kind),
          ),
      };
  }
}

/** The holdings of a block that are asked for. */
export function holdersIn(block: AddressBlock, wanted: Wanted): Holder[] {
  const { namespace = '' } = block.metadata;
  return block.spec.holdings.flatMap((holding): Holder[] => {
    const address = Address.parse(holding.address);
    if (address === undefined) return [];
    const everybody = [holding.holder, ...(holding.sharers ?? [])].map((holder) => nameOf(holder, namespace));
    return wanted.matches(address, everybody) ? [holderOf(holding, block)] : [];
  });
}

/** Whether somebody has the address now. */
export const isHeld = ({ coolsUntil }: Holder): boolean => coolsUntil === undefined;

/** IPv4 before IPv6, lowest first; the same address in different spaces by namespace. */
export function inOrder(holders: readonly Holder[]): Holder[] {
  return holders
    .map((holder) => ({ holder, address: Address.parse(holder.address) }))
    .sort(
      (a, b) =>
        (a.address === undefined || b.address === undefined ? 0 : compareAddresses(a.address, b.address)) ||
        compareText(a.holder.namespace, b.holder.namespace) ||
        compareText(a.holder.space, b.holder.space),
    )
    .map(({ holder }) => holder);
}

/** An address of a Service is where its announcer says that it is. */
export function announcedBy(holder: Holder, announcers: readonly ServiceL2Status[]): Holder {
  const status = announcers.find(
    ({ status: said }) => said?.serviceName === holder.holder.name && said.serviceNamespace === holder.holder.namespace,
  )?.status;
  if (status?.node === undefined) return holder;
  const interfaces = (status.interfaces ?? []).flatMap(({ name }) => name ?? []);
  return { ...holder, host: status.node, ...(interfaces.length === 0 ? {} : { interfaces }) };
}

function holderOf(holding: AddressHolding, { metadata, spec }: AddressBlock): Holder {
  const { namespace = '' } = metadata;
  const holder = nameOf(holding.holder, namespace);
  const sharers = (holding.sharers ?? []).map((sharer) => nameOf(sharer, namespace));
  return {
    address: holding.address,
    space: spec.space,
    namespace,
    holder,
    network: holding.network,
    subnet: holding.subnet,
    since: holding.since,
    ...(holding.coolsUntil === undefined ? {} : { coolsUntil: holding.coolsUntil }),
    // An IPSet is named after the host whose addresses it asks for.
    ...(isIpSet(holder) && holding.coolsUntil === undefined ? { host: holder.name } : {}),
    ...(sharers.length > 1 ? { sharers } : {}),
  };
}

export const nameOf = (
  { apiGroup = '', kind, namespace, name, uid }: AddressHolder,
  blockNamespace: string,
): HolderName => ({ apiGroup, kind, namespace: namespace ?? blockNamespace, name, uid });

const isIpSet = ({ apiGroup, kind }: HolderName): boolean => apiGroup === IPSet.group && kind === IPSet.kind;

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
