import { builtinKind } from '../kind.ts';
import type { ApiObject } from '../object.ts';

/** What Netloom reads and writes of Services, which every server brings along. */
export const Service = builtinKind<Service>('', 'v1', 'Service', 'services');
/**
 * On the Service of the API itself: what Services have their addresses from, with commas between, for hosts that nobody tells by hand.
 */
export const SERVICE_CIDRS = 'netloom.io/service-cidrs';
/** Beside that: what pods have theirs from. */
export const POD_CIDRS = 'netloom.io/pod-cidrs';

export interface Service extends ApiObject {
  spec: ServiceSpec;
  status?: { loadBalancer?: { ingress?: ServiceIngress[] } };
}

export interface ServiceSpec {
  type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName';
  clusterIP?: string;
  clusterIPs?: string[];
  ipFamilies?: ('IPv4' | 'IPv6')[];
  ipFamilyPolicy?: 'SingleStack' | 'PreferDualStack' | 'RequireDualStack';
  loadBalancerClass?: string;
  loadBalancerIP?: string;
  externalTrafficPolicy?: 'Cluster' | 'Local';
  internalTrafficPolicy?: 'Cluster' | 'Local';
  healthCheckNodePort?: number;
  sessionAffinity?: 'None' | 'ClientIP';
  externalIPs?: string[];
  loadBalancerSourceRanges?: string[];
  externalName?: string;
  publishNotReadyAddresses?: boolean;
  selector?: Record<string, string>;
  ports?: ServicePort[];
}

export interface ServicePort {
  name?: string;
  protocol?: 'TCP' | 'UDP' | 'SCTP';
  port: number;
  targetPort?: number | string;
  nodePort?: number;
  appProtocol?: string;
}

export interface ServiceIngress {
  ip?: string;
  hostname?: string;
  ipMode?: 'VIP' | 'Proxy';
}
