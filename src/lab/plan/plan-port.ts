import type { WrittenLink, WrittenSwitch } from '../document/lab-document.ts';
import type { Complain } from '../document/written.ts';
import type { PlannedVlans, SwitchPort } from './lab-plan.ts';

/** The port of a switch that a link is plugged into; undefined, and complained about, when there can be none. */
export function planPort(
  link: WrittenLink,
  switches: readonly WrittenSwitch[],
  complain: Complain,
): { port: SwitchPort; mtu: number } | undefined {
  const found = switches.find(({ name }) => name === link.to);
  if (found === undefined) {
    const known = switches.map(({ name }) => name).join(', ');
    complain(
      link.at,
      `there is no switch "${link.to}"; ${known === '' ? 'the lab has none' : `switches are ${known}`}`,
    );
    return undefined;
  }
  const vlans = vlansOf(link, found, complain);
  return { port: { switch: found.name, ...(vlans === undefined ? {} : { vlans }) }, mtu: found.mtu ?? USUAL_MTU };
}

function vlansOf(link: WrittenLink, { name, vlans }: WrittenSwitch, complain: Complain): PlannedVlans | undefined {
  const wanted = link.vlan === undefined ? (link.vlans ?? []) : [link.vlan];
  if (vlans === undefined) {
    if (wanted.length > 0) {
      complain(link.at, `${name} knows nothing of VLANs: list them there, such as vlans: [${wanted.join(', ')}]`);
    }
    return undefined;
  }
  const known = vlans.map(({ id }) => id);
  for (const id of wanted.filter((each) => !known.includes(each))) {
    complain(link.at, `VLAN ${id} is none of ${name}, which has ${known.join(', ') || 'none'}`);
  }
  if (link.vlan !== undefined) return { untagged: link.vlan, tagged: [] };
  return { untagged: 'native', tagged: [...new Set(link.vlans ?? known)] };
}

export const USUAL_MTU = 1500;
