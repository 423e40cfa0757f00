import { defineKind, type ObjectOf } from '../kind.ts';
import { type Infer, map, object, optional, string } from '../shape.ts';
import { GROUP, networkName, subnetName, VERSION } from './shapes.ts';

const entryShape = object({
  network: networkName,
  subnet: subnetName,
  address: string({ description: 'The address that is reserved.' }),
});

const ipSetRefShape = object(
  {
    apiVersion: optional(string({ description: 'API version of the referent.' })),
    fieldPath: optional(string({ description: 'Which part of the referent is meant.' })),
    kind: optional(string({ description: 'Kind of the referent.' })),
    name: optional(string({ description: 'Name of the referent.' })),
    namespace: optional(string({ description: 'Namespace of the referent.' })),
    resourceVersion: optional(string({ description: 'Which version of the referent is meant.' })),
    uid: optional(string({ description: 'UID of the referent.' })),
  },
  { 'x-kubernetes-map-type': 'atomic', description: 'The IPSet that the addresses are reserved for.' },
);

export const Reservation = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'Reservation',
  plural: 'reservations',
  scope: 'Namespaced',
  description: 'The addresses of one IPSet. Kept by the controller; people write IPSets.',
  labels: {
    'backup.openstack.org/restore': 'true',
    'backup.openstack.org/category': 'dataplane',
    'backup.openstack.org/restore-order': '30',
  },
  spec: object({
    ipSetRef: ipSetRefShape,
    // Always written together, by one: who owns which address of it would be longer than the addresses.
    reservation: map(entryShape, { 'x-kubernetes-map-type': 'atomic', description: 'What is reserved, by network.' }),
  }),
  status: object({}),
  columns: [
    { name: 'Reservation', type: 'string', jsonPath: '.spec.reservation', description: 'Reservation' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', priority: 1 },
  ],
});
export type Reservation = ObjectOf<typeof Reservation>;
export type ReservationEntry = Infer<typeof entryShape>;
