import { MANAGEMENT_LINK } from '../../lab/document/names.ts';
import type { HostStatus, LabStatus, LinkStatus } from './lab-status.ts';
import { qualityText } from './quality-text.ts';
import { table } from './table.ts';

/** For people, or for programs. */
export const shown = (status: LabStatus, output: 'json' | undefined): string =>
  output === 'json' ? JSON.stringify(status, undefined, 2) : statusText(status);

/** As a person reads it: hosts, switches, links, and first of all what is wrong. */
function statusText(status: LabStatus): string {
  const { name, file, management, switches, hosts, links } = status;
  return [
    `lab ${name}, made of ${file}, management over ${management.bridge} (${management.subnet})`,
    ...warningsOf(status).map((sentence) => `! ${sentence}`),
    '',
    table([
      ['HOST', 'STATE', 'UNDERLAY', 'MANAGEMENT', 'AGENT', 'NAMESPACE'],
      ...hosts.map((host) => [
        host.name,
        host.state,
        host.underlay ?? '-',
        host.management,
        agentText(host),
        host.namespace,
      ]),
    ]),
    ...(switches.length === 0
      ? []
      : [
          '',
          table([
            ['SWITCH', 'NETWORK', 'VLANS'],
            ...switches.map(({ name: own, subnets, vlans }) => [
              own,
              subnets.join(', ') || '-',
              vlans?.join(',') ?? '-',
            ]),
          ]),
        ]),
    '',
    table([
      ['LINK', 'TO', 'CARRIER', 'ADDRESSES', 'VLANS', 'LIMITS', 'DROPPED'],
      ...links.filter(isWorthARow).map(linkRow),
    ]),
  ].join('\n');
}

function warningsOf({ name, complete, gone, up, api, keeper, hosts }: LabStatus): string[] {
  const agents = hosts.some(({ state }) => !['Alive', 'Dead', 'Gone'].includes(state));
  return [
    ...(complete ? [] : [`it is incomplete: "${up}" finishes it, "netloom lab down ${name}" removes it`]),
    ...(gone ? [`nothing of it is there, as after a reboot: "${up}" brings it back`] : []),
    ...(api?.problem === undefined ? [] : [api.problem]),
    ...(agents && keeper === undefined
      ? [`nobody keeps its agents running, and no host reaches the API: "${up}" changes that`]
      : []),
  ];
}

/** Every host has one to the API; it is news only when it is cut. */
const isWorthARow = ({ name, carrier }: LinkStatus): boolean => name !== MANAGEMENT_LINK || !carrier;

const agentText = ({ agent, state }: HostStatus): string =>
  agent === undefined ? (['Alive', 'Dead', 'Gone'].includes(state) ? '-' : 'none') : `process ${agent}`;

function linkRow(link: LinkStatus): string[] {
  const { host, name, to, carrier, addresses, vlans, lost = 0, refused = 0 } = link;
  const dropped = [...(lost > 0 ? [`${lost} lost`] : []), ...(refused > 0 ? [`${refused} of other VLANs`] : [])];
  return [
    `${host}:${name}`,
    to,
    carrier ? 'yes' : 'no',
    addresses.join(', ') || '-',
    vlans ?? '-',
    qualityText(link) || '-',
    dropped.join(', ') || '-',
  ];
}
