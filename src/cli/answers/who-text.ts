import { TablePrinter } from '../client/table-printer.ts';
import { ago } from './ago.ts';
import type { Holder } from './holder.ts';
import type { Place } from './place.ts';
import { holderText, type WhoAnswer } from './who-answer.ts';

/** An answer for people. `now`: milliseconds since 1970. */
export function whoText({ question, says, holders, places }: WhoAnswer, now: number): string {
  const details =
    question.address === undefined
      ? table(holders, now)
      : [
          ...oncePerHolder(holders).flatMap((each) => about(each, now)),
          ...places.map((place) => placeText(place, holders.length === 0)),
        ];
  return [says, ...details].join('\n');
}

/** An address of a Service is on record where pools are, and again wherever a network of hosts contains it. */
function oncePerHolder(holders: readonly Holder[]): Holder[][] {
  const groups = Map.groupBy(holders, ({ address, holder, network, subnet, coolsUntil = '' }) =>
    JSON.stringify([address, holder.uid, network, subnet, coolsUntil]),
  );
  return [...groups.values()];
}

function about(same: readonly Holder[], now: number): string[] {
  const [holder] = same;
  if (holder === undefined) return [];
  const facts: [string, string][] = [
    [holder.coolsUntil === undefined ? 'holder' : 'formerly', holderText(holder.holder)],
    ...(holder.coolsUntil === undefined ? [] : [['free from', holder.coolsUntil] satisfies [string, string]]),
    ...whereOf(holder),
    ...(holder.host === undefined ? [] : [['host', holder.host] satisfies [string, string]]),
    ...(holder.interfaces === undefined
      ? []
      : [['interface', holder.interfaces.join(', ')] satisfies [string, string]]),
    ...(holder.sharers ?? []).map((sharer): [string, string] => ['shared by', holderText(sharer)]),
    ['since', `${holder.since} (${ago(holder.since, now)})`],
    ...same
      .filter(({ as }) => as === undefined)
      .map(({ space, namespace }): [string, string] => ['space', `${space} of namespace ${namespace}`]),
  ];
  return facts.map(([name, value]) => `  ${name.padEnd(11)}${value}`);
}

/** Of what somebody else has given to a Service nobody says from which pool. */
function whereOf({ as, network, subnet }: Holder): [string, string][] {
  if (as !== undefined) return [['as', as]];
  if (subnet !== '') return [['network', `${network}, subnet ${subnet}`]];
  return network === '' ? [] : [['pool', network]];
}

function placeText({ kind, namespace, name, network, subnet, cidr, range, given, because }: Place, isFree: boolean) {
  const where = cidr === undefined ? `range ${range}` : `network ${network}, subnet ${subnet} (${cidr})`;
  const of = namespace === '' ? '' : ` of namespace ${namespace}`;
  return `  in ${kind} ${name}${of}, ${where}: ${isFree ? `${GIVEN[given]}, as ` : ''}${because}`;
}

const GIVEN: Readonly<Record<Place['given'], string>> = {
  dynamic: 'free, and given to whoever asks for any address',
  request: 'free, but only given to who asks for exactly this one',
  never: 'never given',
};

function table(holders: readonly Holder[], now: number): string[] {
  if (holders.length === 0) return [];
  const lines: string[] = [];
  const printer = new TablePrinter({
    isWide: true,
    withNamespace: false,
    prefix: '',
    print: (line) => lines.push(line),
  });
  const columns = ['address', 'holder', 'namespace', 'network', 'subnet', 'host', 'since'];
  printer.print(
    columns.map((name) => ({ name, priority: 0 })),
    oncePerHolder(holders)
      .flatMap(([first]) => first ?? [])
      .map(({ address, holder, sharers, as, namespace, network, subnet, host, since, coolsUntil }) => ({
        name: holder.name,
        namespace,
        cells: [
          address,
          (sharers ?? [holder]).map(({ kind, name }) => `${kind}/${name}`).join(', '),
          holder.namespace,
          as ?? network,
          subnet,
          host ?? null,
          coolsUntil === undefined ? ago(since, now) : `cools until ${coolsUntil}`,
        ],
      })),
  );
  return lines;
}
