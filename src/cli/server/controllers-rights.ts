import { allKinds } from '../../api/kinds.ts';
import { dnsRights } from '../../dns/index.ts';
import { ipamRights } from '../../ipam/index.ts';
import { podsRights } from '../../pods/index.ts';
import { CustomResourceDefinition, Event, Lease } from '../../runtime/builtin.ts';
import { may, type Right } from '../../runtime/right.ts';
import { servicesRights } from '../../services/index.ts';
import { vipsRights } from '../../vips/index.ts';
import { LEASE } from './controllers-lease.ts';

const definitions = allKinds.map(({ plural, group }) => `${plural}.${group}`);

/** All that `netloom controllers` does on a server, whatever its options. */
export const controllersRights: readonly Right[] = [
  ...may('create patch watch', [CustomResourceDefinition]).map((right) => ({ ...right, names: definitions })),
  // What is to be created has no name yet where one asks whether it may be.
  ...may('create', [Lease]).map((right) => ({ ...right, namespace: LEASE.namespace })),
  ...may('get update', [Lease]).map((right) => ({ ...right, namespace: LEASE.namespace, names: [LEASE.name] })),
  ...may('create patch', [Event]),
  ...ipamRights,
  ...vipsRights,
  ...dnsRights,
  ...podsRights,
  ...servicesRights,
];
