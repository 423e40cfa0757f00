import type { Address, Family } from '../../api/address.ts';
import { listAddresses } from '../../linux/addresses.ts';
import { Netlink } from '../../linux/netlink/connection.ts';

/**
 * The addresses by which other hosts know this one, and in a family in which it is known by none, what the same link has:
 * whoever comes by IPv6 to a host that is known by IPv4 alone wants an answer too.
 */
export function addressesHere(known: readonly Address[]): Address[] {
  using netlink = new Netlink();
  const here = listAddresses(netlink);
  const links = known.flatMap((address) => here.find((each) => each.address.equals(address))?.link ?? []);
  const others = ([4, 6] as const satisfies readonly Family[])
    .filter((family) => !known.some((address) => address.family === family))
    .flatMap(
      (family) =>
        here.find(({ link, address }) => link === links[0] && address.family === family && isForAll(address)) ?? [],
    );
  return [...known, ...others.map(({ address }) => address)];
}

/** Others reach it, and not only those on the same link. */
const isForAll = (address: Address): boolean => !/^(127\.|169\.254\.|::1$|fe[89ab])/.test(address.toString());
