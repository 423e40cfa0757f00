import { builtinKind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';

/** The kinds of every server that the runtime itself reads and writes. */
export const Lease = builtinKind<Lease>('coordination.k8s.io', 'v1', 'Lease', 'leases');
export interface Lease extends ApiObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

export const Event = builtinKind<Event>('', 'v1', 'Event', 'events');
export interface Event extends ApiObject {
  involvedObject: ObjectReference;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
  source: { component: string; host?: string };
  reportingComponent: string;
  reportingInstance: string;
}
export interface ObjectReference {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  uid: string;
  resourceVersion?: string;
}

export const CustomResourceDefinition = builtinKind<CustomResourceDefinition>(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  'Cluster',
);
export interface CustomResourceDefinition extends ApiObject {
  spec: { versions: { name: string; served: boolean }[] };
  status?: { conditions?: { type: string; status: string }[] };
}
