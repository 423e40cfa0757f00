import { Prefix } from '../api/prefix.ts';
import type { LabDocument, Written } from './document/lab-document.ts';
import type { Fault } from './document/written.ts';

/**
 * The networks of a lab in which pods have addresses: hosts could not tell whether an address is that of a pod, behind another host, or
 * of somebody beside them. `isCertain`: the API says what pods have their addresses from.
 * @param podCidrs what the API says, with commas between
 */
export function podOverlaps(
  document: LabDocument,
  podCidrs: string | undefined,
): { faults: Fault[]; isCertain: boolean } {
  const isCertain = podCidrs !== undefined;
  const ofPods = (podCidrs ?? USUAL).split(',').flatMap((text) => Prefix.parse(text) ?? []);
  const from = isCertain ? 'which pods have their addresses from' : 'which pods usually have their addresses from';
  const faults = networksIn(document).flatMap(({ subnet, whose, at }): Fault[] => {
    const met = ofPods.find((each) => each.overlaps(subnet));
    if (met === undefined) return [];
    return [
      {
        ...at,
        sentence: `${subnet} of ${whose} overlaps ${met}, ${from}: hosts could not tell pods from what is plugged in there; choose another network, or start netloom with another --pod-cidr`,
      },
    ];
  });
  return { faults, isCertain };
}

function networksIn({ management, switches, cables }: LabDocument): (Written & { subnet: Prefix; whose: string })[] {
  return [
    ...(management === undefined ? [] : [{ ...management, whose: 'the management network' }]),
    ...switches.flatMap(({ name, subnets, vlans = [], at }) =>
      [...subnets, ...vlans.flatMap((vlan) => vlan.subnets)].map((subnet) => ({
        subnet,
        whose: `the switch ${name}`,
        at,
      })),
    ),
    ...cables.flatMap(({ subnets, at }) => subnets.map((subnet) => ({ subnet, whose: 'a link between hosts', at }))),
  ];
}

/** Without --pod-cidr. */
const USUAL = '10.244.0.0/16';
