import { createHash } from 'node:crypto';
import { Address } from '../api/address.ts';
import { Prefix } from '../api/prefix.ts';

/** A network that is in use already, and by what. */
export interface UsedNetwork {
  readonly subnet: Prefix;
  readonly by: string;
}

/** One of the 512 networks of 198.18.0.0/15, which are there for experiments; the same for a lab each time, if it is free. */
export function chooseManagementSubnet(lab: string, used: readonly UsedNetwork[]): Prefix | undefined {
  const begin = createHash('sha256').update(lab).digest().readUInt16BE() % CANDIDATES;
  for (let step = 0; step < CANDIDATES; step++) {
    const candidate = candidateAt((begin + step) % CANDIDATES);
    if (whoUses(candidate, used) === undefined) return candidate;
  }
  return undefined;
}

export const whoUses = (subnet: Prefix, used: readonly UsedNetwork[]): UsedNetwork | undefined =>
  used.find((each) => each.subnet.overlaps(subnet));

const candidateAt = (index: number): Prefix => new Prefix(Address.of(4, FIRST + BigInt(index) * 256n), 24);

const CANDIDATES = 512;
/** 198.18.0.0 */
const FIRST = 0xc612_0000n;
