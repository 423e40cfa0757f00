import { Prefix } from '../../api/prefix.ts';
import type { ServiceRanges } from '../../engine/services/ranges.ts';
import { UsageError } from '../command.ts';

/** Where Services have their addresses and ports from. */
export const serviceOptions = {
  'service-cidr': {
    type: 'string',
    placeholder: 'CIDR',
    default: '10.96.0.0/16',
    description: 'what Services have their addresses from; two, with a comma between, for IPv4 and IPv6',
  },
  'service-node-port-range': {
    type: 'string',
    placeholder: 'FIRST-LAST',
    default: '30000-32767',
    description: 'the ports of every host that Services may have',
  },
} as const;

export function readServiceOptions(options: {
  readonly 'service-cidr': string;
  readonly 'service-node-port-range': string;
}): ServiceRanges {
  return { networks: readNetworks(options['service-cidr']), nodePorts: readPorts(options['service-node-port-range']) };
}

function readNetworks(text: string): Prefix[] {
  const networks = text.split(',').map((each) => Prefix.parse(each.trim()));
  const known = networks.filter((network) => network !== undefined);
  const isPair = new Set(known.map(({ family }) => family)).size === networks.length;
  const isLarge = known.every(({ family, length }) => length <= (family === 4 ? 28 : 124));
  if (known.length === networks.length && isPair && isLarge) return known;
  throw new UsageError(
    `--service-cidr takes a network of at least 16 addresses, such as 10.96.0.0/16, or one of each family, such as 10.96.0.0/16,fd00:96::/112, not "${text}"`,
  );
}

function readPorts(text: string): { first: number; last: number } {
  const [, first, last] = (/^(\d{1,5})-(\d{1,5})$/.exec(text) ?? []).map(Number);
  if (first !== undefined && last !== undefined && first >= 1 && first <= last && last <= 65_535)
    return { first, last };
  throw new UsageError(`--service-node-port-range takes FIRST-LAST, such as 30000-32767, not "${text}"`);
}
