import type { LabDocument, Quality, WrittenCable, WrittenHost, WrittenLink } from '../document/lab-document.ts';
import type { Complain, Place } from '../document/written.ts';
import { portName } from './kernel-names.ts';
import type { CableTo, SwitchPort } from './lab-plan.ts';
import { planPort, USUAL_MTU } from './plan-port.ts';
import { Segment, Segments } from './segments.ts';

/** An interface of a host, and what it is plugged into. */
export interface End {
  readonly host: string;
  /** Of the host in the document, from 0. */
  readonly place: number;
  readonly link: string;
  /** Its other end, where the switches are. */
  readonly port: string;
  readonly to: SwitchPort | CableTo;
  readonly segment: Segment;
  readonly wants: WrittenLink['addresses'];
  readonly mtu: number;
  readonly quality: Quality;
  readonly at: Place;
}

/** Every end of every link, host by host; those that lead nowhere are complained about. */
export function endsOf(document: LabDocument, complain: Complain): End[] {
  const segments = new Segments(document.switches);
  const names = new Set(document.switches.map(({ name }) => name));
  const places = new Map(document.hosts.map(({ name }, place) => [name, place]));
  const port = (host: string, link: string): string => {
    const name = portName(host, link, names);
    names.add(name);
    return name;
  };
  const plugged = document.hosts.flatMap((host, place) =>
    linksOf(host, document).flatMap((link) => {
      const planned = planPort(link, document.switches, complain);
      const segment = planned === undefined ? undefined : segments.of(link.to, link.vlan);
      if (planned === undefined || segment === undefined) return [];
      const { name, addresses, at, bitsPerSecond, loss, delayMs } = link;
      return [
        {
          host: host.name,
          place,
          link: name,
          port: port(host.name, name),
          to: planned.port,
          segment,
          wants: addresses,
          mtu: planned.mtu,
          quality: { bitsPerSecond, loss, delayMs },
          at,
        },
      ];
    }),
  );
  const cabled = document.cables.flatMap((cable) => endsOfCable(cable, places, port, complain));
  const all = [...plugged, ...cabled].sort((a, b) => a.place - b.place);
  checkNames(all, complain);
  return all;
}

/** A host that says nothing about links is plugged into every switch. */
function linksOf(host: WrittenHost, { switches }: LabDocument): readonly WrittenLink[] {
  return (
    host.links ??
    switches.map(({ name }) => ({
      name,
      to: name,
      addresses: 'automatic',
      vlan: undefined,
      vlans: undefined,
      bitsPerSecond: undefined,
      loss: 0,
      delayMs: undefined,
      at: host.at,
    }))
  );
}

function endsOfCable(
  { ends, subnets, at, bitsPerSecond, loss, delayMs }: WrittenCable,
  places: ReadonlyMap<string, number>,
  port: (host: string, link: string) => string,
  complain: Complain,
): End[] {
  const words = ends.map(({ host, link }) => `${host}:${link}`);
  const unknown = ends.filter(({ host }) => !places.has(host));
  for (const { host } of unknown)
    complain(at, `there is no host "${host}"; hosts are ${[...places.keys()].join(', ')}`);
  if (ends[0].host === ends[1].host)
    complain(at, `both ends are at ${ends[0].host}: a link between hosts needs two of them`);
  if (unknown.length > 0 || ends[0].host === ends[1].host) return [];
  const segment = new Segment(`the link ${words.join(' -- ')}`, subnets);
  const [one, other] = ends.map(({ host, link }) => ({ host, link, port: port(host, link) })) as [CableTo, CableTo];
  return [
    { from: one, to: other },
    { from: other, to: one },
  ].map(({ from, to }) => ({
    host: from.host,
    place: places.get(from.host) ?? 0,
    link: from.link,
    port: from.port,
    to,
    segment,
    wants: 'automatic',
    mtu: USUAL_MTU,
    quality: { bitsPerSecond, loss, delayMs },
    at,
  }));
}

function checkNames(ends: readonly End[], complain: Complain): void {
  const seen = new Set<string>();
  for (const { host, link, at } of ends) {
    if (seen.has(`${host}:${link}`))
      complain(at, `the host ${host} has an interface ${link} already: choose another name`);
    seen.add(`${host}:${link}`);
  }
}
