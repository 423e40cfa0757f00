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
          ...holders.flatMap((holder) => about(holder, now)),
          ...places.map((place) => placeText(place, holders.length === 0)),
        ];
  return [says, ...details].join('\n');
}

function about(holder: Holder, now: number): string[] {
  const facts: [string, string][] = [
    [holder.coolsUntil === undefined ? 'holder' : 'formerly', holderText(holder.holder)],
    ...(holder.coolsUntil === undefined ? [] : [['free from', holder.coolsUntil] satisfies [string, string]]),
    holder.subnet === '' ? ['pool', holder.network] : ['network', `${holder.network}, subnet ${holder.subnet}`],
    ...(holder.host === undefined ? [] : [['host', holder.host] satisfies [string, string]]),
    ...(holder.interfaces === undefined
      ? []
      : [['interface', holder.interfaces.join(', ')] satisfies [string, string]]),
    ...(holder.sharers ?? []).map((sharer): [string, string] => ['shared by', holderText(sharer)]),
    ['since', `${holder.since} (${ago(holder.since, now)})`],
    ['space', `${holder.space} of namespace ${holder.namespace}`],
  ];
  return facts.map(([name, value]) => `  ${name.padEnd(11)}${value}`);
}

function placeText({ kind, namespace, name, network, subnet, cidr, range, given, because }: Place, isFree: boolean) {
  const where = cidr === undefined ? `range ${range}` : `network ${network}, subnet ${subnet} (${cidr})`;
  return `  in ${kind} ${name} of namespace ${namespace}, ${where}: ${isFree ? `${GIVEN[given]}, as ` : ''}${because}`;
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
    holders.map(({ address, holder, namespace, network, subnet, host, since, coolsUntil }) => ({
      name: holder.name,
      namespace,
      cells: [
        address,
        `${holder.kind}/${holder.name}`,
        holder.namespace,
        network,
        subnet,
        host ?? null,
        coolsUntil === undefined ? ago(since, now) : `cools until ${coolsUntil}`,
      ],
    })),
  );
  return lines;
}
