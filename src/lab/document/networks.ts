import { Address, addressFault } from '../../api/address.ts';
import { Prefix } from '../../api/prefix.ts';
import { oneOrMore } from './fields.ts';
import type { WrittenAddress } from './lab-document.ts';
import type { WrittenValue } from './written.ts';

/** The networks of a field: one, or a list of them, at most one of each family. */
export function readSubnets(value: WrittenValue | undefined): Prefix[] {
  const subnets = oneOrMore(value).flatMap((item) => readSubnet(item) ?? []);
  if (new Set(subnets.map(({ family }) => family)).size < subnets.length) {
    value?.fault('there may be one network of IPv4 and one of IPv6, not two of a kind');
  }
  return subnets;
}

export function readSubnet(value: WrittenValue): Prefix | undefined {
  const text = value.text ?? '';
  const [front = ''] = text.split('/', 1);
  const subnet = Prefix.parse(text);
  const address = Address.parse(front);
  if (subnet === undefined || address === undefined) {
    const why = address === undefined && front !== text ? `${addressFault(front)} before its length` : 'is no network';
    value.fault(`${value.shown} ${why}: write an address and a length, such as 192.168.122.0/24`);
    return undefined;
  }
  if (!address.equals(subnet.first)) value.fault(`"${text}" is an address in a network: the network is ${subnet}`);
  return subnet;
}

/** `192.168.122.10`, or with a length. */
export function readAddress(value: WrittenValue): WrittenAddress | undefined {
  const text = value.text ?? '';
  const [front = ''] = text.split('/', 1);
  if (Address.parse(front) === undefined) {
    value.fault(`${value.shown} ${addressFault(front)}: write one such as 192.168.122.10 or 192.168.122.10/24`);
    return undefined;
  }
  if (front !== text && Prefix.parse(text) === undefined) {
    value.fault(`"${text}" has no length of a network behind its slash: write one such as ${front}/24`);
    return undefined;
  }
  return { text, at: value.at };
}

/** Whether a word is meant as an address, right or wrong. */
export const looksLikeAddress = (word: string): boolean => /^[\d.]+(\/|$)|:/.test(word);
