import type { Quality, Taint } from '../document/lab-document.ts';

/**
 * Everything that is to be made for a lab, by the names that it will have in the kernel. It is kept as JSON for as long as the lab
 * is there: so a lab can be taken down by another version of Netloom, too.
 */
export interface LabPlan {
  readonly name: string;
  readonly management: PlannedManagement;
  /** The network namespace that all switches and cables are in. */
  readonly namespace: string;
  readonly switches: readonly PlannedSwitch[];
  readonly hosts: readonly PlannedHost[];
}

/** The network over which hosts reach the API; its bridge is the machine's own end of it. */
export interface PlannedManagement {
  readonly subnet: string;
  readonly bridge: string;
  readonly mac: string;
  /** With the length of the network, as all addresses of links here. */
  readonly address: string;
}

export interface PlannedSwitch {
  readonly name: string;
  readonly subnets: readonly string[];
  /** Absent when it knows nothing of VLANs. */
  readonly vlans?: readonly number[];
  readonly mtu: number;
}

export interface PlannedHost {
  readonly name: string;
  readonly namespace: string;
  readonly management: ManagementLink;
  readonly links: readonly PlannedLink[];
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly resources: Readonly<Record<string, string>>;
  readonly agent: boolean;
  /** The address that other hosts route to; absent when it has none but that of the management network. */
  readonly underlay?: string;
}

export interface ManagementLink {
  /** The machine's end, in the management bridge. */
  readonly port: string;
  readonly mac: string;
  readonly address: string;
}

export interface PlannedLink extends Quality {
  /** Of the interface, on the host. */
  readonly name: string;
  readonly mac: string;
  readonly mtu: number;
  readonly addresses: readonly string[];
  /** Its other end, where the switches are. */
  readonly port: string;
  readonly to: SwitchPort | CableTo;
}

export interface SwitchPort {
  readonly switch: string;
  readonly vlans?: PlannedVlans;
}

export interface PlannedVlans {
  readonly untagged: number | 'native';
  readonly tagged: readonly number[];
}

export interface CableTo {
  readonly host: string;
  readonly link: string;
  /** The end of the cable on that side. */
  readonly port: string;
}
