import { builtinKind } from '../kind.ts';
import type { ApiObject } from '../object.ts';

export const EndpointSlice = builtinKind<EndpointSlice>('discovery.k8s.io', 'v1', 'EndpointSlice', 'endpointslices');
export interface EndpointSlice extends ApiObject {
  addressType: 'IPv4' | 'IPv6' | 'FQDN';
  endpoints: Endpoint[];
  ports?: EndpointPort[];
}

export interface EndpointPort {
  name?: string;
  protocol?: 'TCP' | 'UDP' | 'SCTP';
  port?: number;
  appProtocol?: string;
}

export interface Endpoint {
  addresses: string[];
  conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
  hostname?: string;
  nodeName?: string;
  /** The part of the world that the node says it is in. */
  zone?: string;
  targetRef?: { kind?: string; namespace?: string; name?: string; uid?: string };
}

/** The label that says which Service a slice belongs to. */
export const SERVICE_NAME = 'kubernetes.io/service-name';
/** The label that says who keeps a slice. */
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
