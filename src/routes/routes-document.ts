import { type Destination, destinations, type Filter, type Hop } from './listing.ts';
import type { Speaker } from './speaker.ts';

/** All routes, or those of one virtual network, piece by piece. */
export async function* routesDocument(
  speaker: Speaker,
  { vni, ...filter }: Filter & { vni?: number | undefined },
  form: 'json' | 'yaml',
): AsyncGenerator<string> {
  const style = { json: jsonStyle, yaml: yamlStyle }[form];
  const all = [...speaker.table.networks.values()]
    .filter(({ routeCount }) => routeCount > 0)
    .map((network) => network.vni);
  const chosen = all.filter((one) => vni === undefined || one === vni).sort((a, b) => a - b);
  yield style.begin(new Date(speaker.surroundings.now()), chosen.length === 0);
  for (const [i, number] of chosen.entries()) {
    yield style.network(number, i === 0);
    let isFirst = true;
    for await (const destination of destinations(speaker, number, filter)) {
      yield style.destination(destination, isFirst);
      isFirst = false;
    }
    yield style.endNetwork;
  }
  yield style.end;
}

/** Both have the shape that metalbond has, so that what reads its page reads this one, too. */
interface Style {
  begin(date: Date, isEmpty: boolean): string;
  network(vni: number, isFirst: boolean): string;
  destination(destination: Destination, isFirst: boolean): string;
  readonly endNetwork: string;
  readonly end: string;
}

const dateText = (date: Date): string => date.toISOString().slice(0, 19).replace('T', ' ');

/** The key of a destination is itself a JSON text. */
const keyOf = ({ family, prefix }: Destination): string => JSON.stringify({ IPVersion: family, Prefix: prefix });

const jsonStyle: Style = {
  begin: (date) => `{"date":${JSON.stringify(dateText(date))},"vnet":{`,
  network: (vni, isFirst) => `${isFirst ? '' : ','}\n"${vni}":{`,
  destination: (destination, isFirst) =>
    `${isFirst ? '' : ','}\n${JSON.stringify(keyOf(destination))}:${JSON.stringify(destination.hops.map(fieldsOf))}`,
  endNetwork: '}',
  end: '},\n"metalbondVersion":"netloom"}\n',
};

const yamlStyle: Style = {
  begin: (date, isEmpty) =>
    `date: ${JSON.stringify(dateText(date))}\nmetalbondversion: netloom\nvnet:${isEmpty ? ' {}' : ''}\n`,
  network: (vni) => `  ${vni}:\n`,
  destination: (destination) =>
    `    '${keyOf(destination)}':\n${destination.hops
      .map((hop) =>
        Object.entries(fieldsOf(hop)).map(([name, value]) => `${name.toLowerCase()}: ${JSON.stringify(value)}`),
      )
      .map((lines) => `    - ${lines.join('\n      ')}\n`)
      .join('')}`,
  endNetwork: '',
  end: '',
};

function fieldsOf({ route, announcedBy }: Hop) {
  const { address, vni, type, ports } = route.nextHop;
  return {
    TargetAddress: address,
    TargetVNI: vni,
    Type: { standard: 0, nat: 1, loadbalancer: 2 }[type],
    NATPortRangeFrom: ports?.from ?? 0,
    NATPortRangeTo: ports?.to ?? 0,
    AnnouncedBy: announcedBy,
  };
}
