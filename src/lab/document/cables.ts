import { fieldsOf } from './fields.ts';
import type { CableEnd, WrittenCable } from './lab-document.ts';
import { linkNameFault } from './names.ts';
import { readSubnets } from './networks.ts';
import { qualityFields, readQuality } from './quality.ts';
import type { WrittenValue } from './written.ts';

/** `a:eth1 -- b:eth1`, or a mapping with that as its field `between`. */
export function readCables(value: WrittenValue | undefined): WrittenCable[] {
  if (value === undefined || value.isNothing) return [];
  if (value.items === undefined) {
    value.fault(`${value.shown} are no links: write a list, such as [ a:eth1 -- b:eth1 ]`);
    return [];
  }
  return value.items.flatMap((item) => {
    const fields =
      item.text !== undefined
        ? new Map([['between', item]])
        : fieldsOf(item, 'a link between hosts', ['between', 'subnet', ...qualityFields]);
    const between = fields.get('between');
    if (between === undefined) {
      if (item.fields !== undefined) item.fault('it is not said between whom: write between: a:eth1 -- b:eth1');
      return [];
    }
    const ends = readEnds(between);
    return ends === undefined
      ? []
      : [{ ends, subnets: readSubnets(fields.get('subnet')), ...readQuality(fields), at: item.at }];
  });
}

function readEnds(value: WrittenValue): [CableEnd, CableEnd] | undefined {
  const parts = /^\s*([^\s:]+):([^\s:]+)\s+--\s+([^\s:]+):([^\s:]+)\s*$/.exec(value.text ?? '');
  const [, host = '', link = '', otherHost = '', otherLink = ''] = parts ?? [];
  if (parts === null) {
    value.fault(
      `${value.shown} does not say two ends: write HOST:INTERFACE -- HOST:INTERFACE, such as a:eth1 -- b:eth1`,
    );
    return undefined;
  }
  for (const name of [link, otherLink]) {
    const fault = linkNameFault(name);
    if (fault !== undefined) value.fault(`"${name}" cannot be the name of an interface: it ${fault}`);
  }
  return [
    { host, link },
    { host: otherHost, link: otherLink },
  ];
}
