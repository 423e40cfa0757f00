import type { Outcome } from '../ledger/ledger.ts';
import type { Subnet } from './networks.ts';

/** Why a request for an address was not met, and what would change that: for the condition and the event. */
export function explain(outcome: Exclude<Outcome, { is: 'held' }>, { network, definition, pool }: Subnet): string {
  const where = `network ${network.name} subnet ${definition.name}`;
  switch (outcome.is) {
    case 'taken': {
      const { address, holder, coolsUntil } = outcome.by;
      if (coolsUntil !== undefined) {
        return `${address} was given back by ${holder.kind} ${holder.name} and cools down until ${coolsUntil}; ${where} gives it then`;
      }
      return `${address} already reserved by ${holder.kind} ${holder.name}; ${where} gives it once that is deleted`;
    }
    case 'full':
      if (pool.ranges.length === 0) {
        return `no ip address could be created in ${where}: it has no allocationRanges; add one, or ask for a certain address`;
      }
      if (pool.capacity === 0n) {
        return `no ip address could be created in ${where}: nothing of ${pool} is given unasked, as it is excluded, or for routers or Services; extend the allocationRanges, or ask for a certain address`;
      }
      if (outcome.until !== undefined) {
        return `no ip address could be created in ${where}: none of ${pool} is left; who waits longest gets the next one, when the first of those that were given back has cooled down at ${outcome.until}, or an allocation range grows`;
      }
      return `no ip address could be created in ${where}: none of ${pool} is left; who waits longest gets the next one, when one there is given back or an allocation range grows`;
    case 'unknown':
      return `the address in ${where} could not be recorded: ${outcome.error.message}`;
  }
}
