import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import { sweep } from '../ledger/sweep.ts';
import type { Controller } from '../runtime/controller.ts';
import { Metrics } from '../runtime/metrics.ts';
import { addressClaims } from './address-claim.controller.ts';
import { ipSets } from './ipset.controller.ts';
import { netConfigs } from './netconfig.controller.ts';
import { reservations } from './reservation.controller.ts';

export { ipamAdmission } from './admission.ts';
export { ipamRights } from './rights.ts';

export interface IpamOptions {
  /** Which part of a subnet, from 0 to 1, is held when it is called nearly full. */
  readonly nearlyFull?: number;
  /** For how many milliseconds an address that is given back is given to nobody but an object of the same name. */
  readonly coolDown?: number;
  /** Where it is told how full subnets are. */
  readonly metrics?: Metrics;
}

/** For how long the address of a holder that vanished without giving it back is given to nobody. */
const GRACE = 60_000;

export const ipamControllers = ({
  nearlyFull = 0.8,
  coolDown = 0,
  metrics = new Metrics(),
}: IpamOptions = {}): Controller[] => [
  ipSets({ coolDown }),
  reservations({ coolDown }),
  addressClaims({ coolDown }),
  netConfigs({ nearlyFull, metrics }),
  sweep({ holders: [IPSet, Reservation, AddressClaim], grace: GRACE, coolDown }),
];
