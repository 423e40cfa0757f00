import { Address, addressFault } from '../../api/address.ts';
import { Prefix } from '../../api/prefix.ts';
import { UsageError } from '../command.ts';

/** What somebody wants to know who holds it. */
export type Question =
  | { readonly is: 'address'; readonly address: Address }
  | { readonly is: 'prefix'; readonly prefix: Prefix }
  /** What objects of this name hold; of this kind only, as it was typed, when there is one. */
  | { readonly is: 'name'; readonly kind: string | undefined; readonly name: string };

/** @throws UsageError when it looks like an address and is none: nobody has such a name */
export function questionOf(word: string): Question {
  const text = word.trim();
  const slash = text.indexOf('/');
  const before = slash < 0 ? text : text.slice(0, slash);
  if (before === '' || text.endsWith('/')) throw new UsageError(`"${word}" is ${SHOULD_BE}`);
  if (!looksLikeAddress(before)) {
    return slash < 0
      ? { is: 'name', kind: undefined, name: text }
      : { is: 'name', kind: before, name: text.slice(slash + 1) };
  }
  const address = addressIn(before);
  if (address === undefined) throw new UsageError(`"${before}" ${addressFault(before)}`);
  if (slash < 0) return { is: 'address', address };
  const prefix = Prefix.parse(`${address}${text.slice(slash)}`);
  if (prefix === undefined) {
    throw new UsageError(`"${text}" is not an IP prefix: it is written like 192.168.0.0/24 or fd00::/64`);
  }
  return { is: 'prefix', prefix };
}

const SHOULD_BE =
  'neither an address (172.17.0.80), nor a prefix (172.17.0.0/28), nor a name (edpm-compute-0 or ipset/edpm-compute-0)';

const looksLikeAddress = (text: string): boolean => text.includes(':') || /^\d+(\.\d+){3}$/.test(text);

/** Also as URLs and dual-stack sockets write it: in brackets, and IPv4 within IPv6. */
function addressIn(text: string): Address | undefined {
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  return Address.parse(/^::ffff:(\d+(?:\.\d+){3})$/i.exec(bare)?.[1] ?? bare);
}
