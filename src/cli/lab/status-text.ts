import { MANAGEMENT_LINK } from '../../lab/document/names.ts';
import type { HostStatus, LabStatus, LinkStatus } from './lab-status.ts';
import { qualityText } from './quality-text.ts';
import { table } from './table.ts';

/** As a person reads it: hosts, switches, links, and first of all what is wrong. */
export function statusText(status: LabStatus): string {
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

function warningsOf({ name, complete, api, keeper, hosts }: LabStatus): string[] {
  const agents = hosts.some(({ state }) => state !== 'Alive' && state !== 'Dead');
  return [
    ...(complete ? [] : [`it is incomplete: "netloom lab up" finishes it, "netloom lab down ${name}" removes it`]),
    ...(api?.problem === undefined ? [] : [api.problem]),
    ...(agents && keeper === undefined ? ['nobody keeps its agents running: "netloom lab up" does'] : []),
  ];
}

/** Every host has one to the API; it is news only when it is cut. */
const isWorthARow = ({ name, carrier }: LinkStatus): boolean => name !== MANAGEMENT_LINK || !carrier;

const agentText = ({ agent, state }: HostStatus): string =>
  agent === undefined ? (state === 'Alive' || state === 'Dead' ? '-' : 'none') : `process ${agent}`;

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
