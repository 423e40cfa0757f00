import { hasCarrier, isManagementCut, type LabFaults } from '../../lab/faults.ts';
import type { LabPlan, PlannedHost, PlannedLink } from '../../lab/plan/lab-plan.ts';
import { qualityText } from './quality-text.ts';

/** Who is plugged into what. */
export interface LabGraph {
  readonly lab: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphNode {
  readonly name: string;
  readonly kind: 'host' | 'switch' | 'management';
  readonly label: string;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** Interfaces of the hosts at its ends. */
  readonly links: readonly string[];
  readonly label: string;
  readonly isCut: boolean;
}

export function graphOf(plan: LabPlan, faults: LabFaults): LabGraph {
  const { bridge, subnet } = plan.management;
  return {
    lab: plan.name,
    nodes: [
      ...plan.switches.map(({ name, subnets, vlans }): GraphNode => {
        const about = [...subnets, ...(vlans === undefined ? [] : [`VLANs ${vlans.join(' ')}`])];
        return { name, kind: 'switch', label: about.join(', ') };
      }),
      { name: bridge, kind: 'management', label: subnet },
      ...plan.hosts.map(
        ({ name, agent }): GraphNode => ({
          name,
          kind: 'host',
          label: faults.dead.includes(name) ? 'dead' : agent ? '' : 'no agent',
        }),
      ),
    ],
    edges: plan.hosts.flatMap((host) => [
      ...host.links.flatMap((link) => edgeOf(plan, host, link, faults)),
      {
        from: host.name,
        to: bridge,
        links: ['management'],
        label: shortened(host.management.address),
        isCut: isManagementCut(faults, host.name) || faults.dead.includes(host.name),
      },
    ]),
  };
}

/** A cable is told once, by the host that comes first. */
function edgeOf({ hosts }: LabPlan, host: PlannedHost, link: PlannedLink, faults: LabFaults): GraphEdge[] {
  const { name, to, addresses } = link;
  const isCut = !hasCarrier(faults, host.name, link) || faults.dead.includes(host.name);
  const own = addresses.map(shortened);
  const quality = qualityText(link);
  if ('switch' in to) {
    const vlan = to.vlans === undefined || to.vlans.untagged === 'native' ? [] : [`VLAN ${to.vlans.untagged}`];
    const label = [...own, ...vlan, ...(quality === '' ? [] : [quality])].join(', ');
    return [{ from: host.name, to: to.switch, links: [name], label, isCut }];
  }
  const place = (wanted: string) => hosts.findIndex((each) => each.name === wanted);
  if (place(host.name) > place(to.host)) return [];
  const theirs = hosts[place(to.host)]?.links.find((each) => each.name === to.link)?.addresses.map(shortened) ?? [];
  const label = [[...own, ...theirs].join(' - '), quality].filter((part) => part !== '').join(', ');
  return [{ from: host.name, to: to.host, links: [name, to.link], label, isCut }];
}

const shortened = (address: string): string => address.split('/', 1)[0] ?? address;

/** As text: what is plugged into each switch, then the cables between hosts. */
export function treeOf({ lab, nodes, edges }: LabGraph): string {
  const branches: { title: string; leaves: string[] }[] = nodes
    .filter(({ kind }) => kind !== 'host')
    .map(({ name, kind, label }) => ({
      title: `${name}  ${[...(kind === 'management' ? ['management'] : []), label].join(' ')}`.trimEnd(),
      leaves: edges.filter(({ to }) => to === name).map((edge) => leaf(nodes, edge)),
    }));
  const hosts = new Set(nodes.filter(({ kind }) => kind === 'host').map(({ name }) => name));
  const cables = edges
    .filter(({ to }) => hosts.has(to))
    .map((edge) => ({ title: cable(edge), leaves: [] as string[] }));
  const all = [...branches, ...cables];
  return [
    lab,
    ...all.flatMap(({ title, leaves }, i) => {
      const isLast = i === all.length - 1;
      return [
        `${isLast ? '└─' : '├─'} ${title}`,
        ...leaves.map((text, j) => `${isLast ? '  ' : '│ '} ${j === leaves.length - 1 ? '└─' : '├─'} ${text}`),
      ];
    }),
  ].join('\n');
}

function leaf(nodes: readonly GraphNode[], { from, links, label, isCut }: GraphEdge): string {
  const about = nodes.find(({ name }) => name === from)?.label ?? '';
  return [`${from}:${links[0]}`, label, ...(about === '' ? [] : [`(${about})`]), ...(isCut ? ['✂'] : [])]
    .filter((part) => part !== '')
    .join('  ');
}

function cable({ from, to, links, label, isCut }: GraphEdge): string {
  return [`${from}:${links[0]} ── ${to}:${links[1]}`, label, ...(isCut ? ['✂'] : [])]
    .filter((part) => part !== '')
    .join('  ');
}

/** For graphviz. */
export function dotOf({ lab, nodes, edges }: LabGraph): string {
  const quoted = (text: string): string =>
    `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
  const shape = { host: 'box', switch: 'hexagon', management: 'ellipse' } as const;
  return [
    `graph ${quoted(lab)} {`,
    '  node [fontname="sans-serif"]; edge [fontname="sans-serif", fontsize=10];',
    ...nodes.map(
      ({ name, kind, label }) =>
        `  ${quoted(name)} [shape=${shape[kind]}, label=${quoted([name, label].filter((part) => part !== '').join('\n'))}];`,
    ),
    ...edges.map(
      ({ from, to, links, label, isCut }) =>
        `  ${quoted(from)} -- ${quoted(to)} [label=${quoted([links.join(' - '), label].filter((part) => part !== '').join('\n'))}${isCut ? ', style=dashed, color=red' : ''}];`,
    ),
    '}',
  ].join('\n');
}
