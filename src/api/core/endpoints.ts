import { builtinKind } from '../kind.ts';
import type { ApiObject } from '../object.ts';

/** The older form of EndpointSlices, one object for each Service. */
export const Endpoints = builtinKind<Endpoints>('', 'v1', 'Endpoints', 'endpoints');
export interface Endpoints extends ApiObject {
  subsets?: EndpointSubset[];
}

/** Every address has every port. */
export interface EndpointSubset {
  addresses?: EndpointAddress[];
  notReadyAddresses?: EndpointAddress[];
  ports?: { name?: string; port: number; protocol?: 'TCP' | 'UDP' | 'SCTP'; appProtocol?: string }[];
}

export interface EndpointAddress {
  ip: string;
  hostname?: string;
  nodeName?: string;
  targetRef?: { kind?: string; namespace?: string; name?: string; uid?: string };
}
