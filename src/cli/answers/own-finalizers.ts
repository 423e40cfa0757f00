import { CLAIM_FINALIZER } from '../../ipam/address-claim.record.ts';
import { FINALIZERS } from '../../ipam/reservation.ts';
import { FINALIZER as BLOCK_FINALIZER } from '../../ledger/block-writer.ts';
import { FINALIZER as POOL_FINALIZER } from '../../vips/pool.controller.ts';

export interface OwnFinalizer {
  /** What has to be so before it goes. */
  readonly goesOnce: string;
  /** Whether that is up to others, so that it may last. */
  readonly isPatient: boolean;
}

const addresses: OwnFinalizer = {
  goesOnce: 'its addresses are given back, which the address controller does',
  isPatient: false,
};
const names: OwnFinalizer = { goesOnce: 'the DNS controller has seen that it is deleted', isPatient: false };

/** The finalizers that we set ourselves, also under former names. */
export const OWN_FINALIZERS: ReadonlyMap<string, OwnFinalizer> = new Map([
  ...[...FINALIZERS, CLAIM_FINALIZER.name].map((name): [string, OwnFinalizer] => [name, addresses]),
  [POOL_FINALIZER, { goesOnce: 'no Service has an address of it any more', isPatient: true }],
  [BLOCK_FINALIZER, { goesOnce: 'nobody holds an address of it any more', isPatient: true }],
  ...['openstack.org/dnsmasq', 'DNSMasq', 'openstack.org/dnsdata', 'DNSData'].map((name): [string, OwnFinalizer] => [
    name,
    names,
  ]),
  ['foregroundDeletion', { goesOnce: 'everything that it owns is gone', isPatient: true }],
]);
