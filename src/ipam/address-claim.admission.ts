import type { Admission, AdmissionRequest, LiveReader } from '../api/admission.ts';
import { AddressClaim, claimFaults } from '../api/netloom.io/address-claim.ts';
import { hostObjection, nodeNameOf } from '../api/node-identity.ts';
import { type FieldError, forbidden, invalid } from '../api/status.ts';
import { CLAIM_FINALIZER } from './address-claim.record.ts';
import { asKind } from './admitted.ts';
import { requestIn } from './applicant.ts';
import { fixedAddressFaults, heldAddressFaults, NETCONFIG_LINE, networksFor, subnetFor } from './request.admission.ts';

export const addressClaimAdmission: Admission = {
  kind: AddressClaim,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  turn: { line: NETCONFIG_LINE, alone: false },

  /** As for an IPSet: the controller needs its finalizer before it gives an address. */
  mutate({ operation, object }) {
    if (operation !== 'CREATE' || object === undefined) return;
    const { finalizers } = object.metadata;
    const others = Array.isArray(finalizers) ? finalizers.filter((name) => name !== CLAIM_FINALIZER.name) : [];
    object.metadata.finalizers = [...others, CLAIM_FINALIZER.name];
  },

  async validate(request, live) {
    requireOwnHost(request);
    const claim = asKind(AddressClaim, request.object);
    // What a claim asks for never changes.
    if (claim === undefined || request.operation !== 'CREATE') return;
    const faults = await faultsOf(claim, live);
    if (faults.length > 0) throw invalid(AddressClaim, claim.metadata.name, faults);
  },
};

/** An agent may write only what belongs to its host. */
function requireOwnHost({ user, name, object, oldObject }: AdmissionRequest): void {
  const node = nodeNameOf(user);
  if (node === undefined) return;
  const claims = [oldObject, object].flatMap((one) => asKind(AddressClaim, one) ?? []);
  const objection = hostObjection(
    node,
    AddressClaim,
    claims.map(({ spec }) => spec.host),
  );
  if (objection !== undefined) throw forbidden(AddressClaim, name, objection);
}

async function faultsOf(claim: AddressClaim, live: LiveReader): Promise<FieldError[]> {
  const subnet = subnetFor(requestIn(claim), await networksFor(AddressClaim, claim, live), FIELDS);
  const own = claimFaults(claim);
  if (!('prefix' in subnet)) return [subnet, ...own];
  const { address } = claim.spec;
  if (address === undefined || own.length > 0) return own;
  const { name, namespace = '' } = claim.metadata;
  const applicant = { namespace, kind: AddressClaim.kind, name };
  return [
    ...fixedAddressFaults(address, subnet, FIELDS.fixedIP),
    ...(await heldAddressFaults(address, applicant, FIELDS.fixedIP, live)),
  ];
}

/** Where a claim says what an IPSet says in its requests. */
const FIELDS = { name: 'spec.network', subnetName: 'spec.subnet', fixedIP: 'spec.address' };
