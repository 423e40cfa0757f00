import type { TLSSocket } from 'node:tls';
import { shownIdentity } from '../../../runtime/shown-identity.ts';
import { Refusal } from './refusal.ts';

/** Who asks: what a certificate says that the cluster's authority has signed. */
export interface Caller {
  readonly user: string;
  readonly groups: readonly string[];
}

/**
 * Throws for anybody whom the cluster's authority does not know, or not any more: connections may outlive certificates.
 * @param now in milliseconds since 1970
 */
export function callerOf(socket: TLSSocket, now: number): Caller {
  const shown = shownIdentity(socket);
  if (shown === undefined || shown.until < now) throw new Refusal(401, 'Unauthorized');
  return shown;
}

/**
 * Whether it is the API server that asks, which has decided before on behalf of whom: the embedded engine, or a kube-apiserver
 * as it is commonly set up. Other hosts, controllers and people have certificates of the same authority, and no business here.
 */
export const isApiServer = ({ user, groups }: Caller): boolean =>
  API_SERVERS.includes(user) || groups.includes('system:masters');

const API_SERVERS = ['kube-apiserver-kubelet-client', 'kube-apiserver', 'system:kube-apiserver'];
