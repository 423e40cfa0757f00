import { changeLink } from '../../linux/links.ts';
import { Netlink } from '../../linux/netlink/connection.ts';
import { createNetworkNamespace } from '../../linux/network-namespace.ts';
import { writeSysctl } from '../../linux/sysctl.ts';
import type { PlannedHost } from '../plan/lab-plan.ts';

/** Makes the namespace that plays a host, or finds it: with loopback, and forwarding as a host of pods needs it. */
export function makeHostNamespace({ namespace }: PlannedHost): string {
  return createNetworkNamespace(namespace, () => {
    using netlink = new Netlink();
    changeLink(netlink, 'lo', { up: true });
    for (const which of ['all', 'default']) {
      for (const family of ['ipv4', 'ipv6']) writeSysctl(['net', family, 'conf', which, 'forwarding'], '1');
      // What the machine itself is strict about is not for a lab to inherit.
      writeSysctl(['net', 'ipv4', 'conf', which, 'rp_filter'], '0');
    }
  });
}
