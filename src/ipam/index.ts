import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import { sweep } from '../ledger/sweep.ts';
import type { Controller } from '../runtime/controller.ts';
import { ipSets } from './ipset.controller.ts';
import { reservations } from './reservation.controller.ts';

export { ipamAdmission } from './admission.ts';

/** For how long the address of an IPSet that vanished without giving it back is given to nobody. */
const GRACE = 60_000;

export const ipamControllers = (): Controller[] => [
  ipSets(),
  reservations(),
  sweep({ holders: [IPSet, Reservation], grace: GRACE }),
];
