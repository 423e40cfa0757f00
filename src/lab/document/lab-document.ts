import type { Prefix } from '../../api/prefix.ts';
import type { Place } from './written.ts';

/** A lab as somebody has written it down: what one value alone can tell is wrong has been found, and nothing is filled in. */
export interface LabDocument {
  readonly name: string;
  /** The network over which agents reach the API; one is chosen when none is said. */
  readonly management: (Written & { readonly subnet: Prefix }) | undefined;
  readonly switches: readonly WrittenSwitch[];
  readonly hosts: readonly WrittenHost[];
  readonly cables: readonly WrittenCable[];
}

/** Where to point when it does not fit with the rest. */
export interface Written {
  readonly at: Place;
}

export interface WrittenSwitch extends Written {
  readonly name: string;
  readonly subnets: readonly Prefix[];
  /** Undefined when it knows nothing of VLANs. */
  readonly vlans: readonly WrittenVlan[] | undefined;
  readonly mtu: number | undefined;
}

export interface WrittenVlan {
  readonly id: number;
  readonly subnets: readonly Prefix[];
}

export interface WrittenHost extends Written {
  readonly name: string;
  /** Undefined when nothing is said of them: then there is one to each switch. */
  readonly links: readonly WrittenLink[] | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly resources: Readonly<Record<string, string>>;
  /** Whether it is a Node, or only a place from which to look at the others. */
  readonly agent: boolean;
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

export interface WrittenLink extends Written, Quality {
  /** Of the interface, on the host. */
  readonly name: string;
  readonly to: string;
  readonly addresses: readonly WrittenAddress[] | 'automatic' | 'none';
  /** The port is in this VLAN and knows no tags. */
  readonly vlan: number | undefined;
  /** Which VLANs of the switch pass; all when undefined. */
  readonly vlans: readonly number[] | undefined;
}

export interface WrittenAddress extends Written {
  /** `192.168.122.10`, or `192.168.122.10/24`. */
  readonly text: string;
}

/** What a link is like, in each direction. */
export interface Quality {
  readonly bitsPerSecond?: number | undefined;
  /** 0.01 is one frame in a hundred. */
  readonly loss: number;
  readonly delayMs?: number | undefined;
}

/** From host to host, without a switch. */
export interface WrittenCable extends Written, Quality {
  readonly ends: readonly [CableEnd, CableEnd];
  readonly subnets: readonly Prefix[];
}

export interface CableEnd {
  readonly host: string;
  readonly link: string;
}
