import type { Admission } from '../api/admission.ts';
import { addressClaimAdmission } from './address-claim.admission.ts';
import { ipSetAdmission } from './ipset.admission.ts';
import { netConfigAdmission } from './netconfig.admission.ts';

/** What is refused that needs other objects to know. */
export const ipamAdmission: Admission[] = [netConfigAdmission, ipSetAdmission, addressClaimAdmission];
