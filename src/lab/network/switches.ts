import { filterVlans } from '../../linux/bridge-vlans.ts';
import { addLink } from '../../linux/links.ts';
import { Netlink } from '../../linux/netlink/connection.ts';
import { createNetworkNamespace, inNetworkNamespace } from '../../linux/network-namespace.ts';
import { writeSysctl } from '../../linux/sysctl.ts';
import type { LabPlan } from '../plan/lab-plan.ts';

export interface MadeSwitch {
  /** Of its bridge. */
  readonly index: number;
  /** Whether the kernel's bridge knows its VLANs; otherwise its ports have rules. */
  readonly filtersVlans: boolean;
}

/** Makes the namespace of the switches with a bridge for each, or finds them. Nobody in there has an address or says a word. */
export function makeSwitches({ namespace, switches }: LabPlan): { path: string; switches: Map<string, MadeSwitch> } {
  const path = createNetworkNamespace(namespace, () => {
    for (const which of ['all', 'default']) writeSysctl(['net', 'ipv6', 'conf', which, 'disable_ipv6'], '1');
  });
  return inNetworkNamespace(path, () => {
    // A switch passes frames on and has no opinion of what is in them. Some kernels show every frame to the rules for packets, which costs
    // pods on different hosts some percent of what the wire gives.
    for (const which of ['iptables', 'ip6tables', 'arptables']) {
      writeSysctl(['net', 'bridge', `bridge-nf-call-${which}`], '0');
    }
    using netlink = new Netlink();
    const made = switches.map(({ name, vlans }): [string, MadeSwitch] => {
      const bridge = { name, kind: { is: 'bridge', multicastSnooping: false } } as const;
      const { index } = addLink(netlink, bridge, { up: true });
      return [name, { index, filtersVlans: vlans !== undefined && filterVlans(netlink, index) }];
    });
    return { path, switches: new Map(made) };
  });
}
