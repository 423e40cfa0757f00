import { fieldsOf, vlanNumber, wholeNumber } from './fields.ts';
import type { WrittenSwitch, WrittenVlan } from './lab-document.ts';
import { linkNameFault } from './names.ts';
import { readSubnets } from './networks.ts';
import type { WrittenValue } from './written.ts';

/** `[rack, spine]`, or what there is to say about each. */
export function readSwitches(value: WrittenValue | undefined): WrittenSwitch[] {
  if (value === undefined || value.isNothing) return [];
  const switches =
    value.fields?.map(({ name, value: written }) => readSwitch(name, written)) ??
    value.items?.map((item) => readSwitch(item.text ?? '', item));
  if (switches === undefined) {
    value.fault(
      `${value.shown} are no switches: write their names, such as [rack], or a mapping, such as { rack: { subnet: 192.168.122.0/24 } }`,
    );
    return [];
  }
  const names = new Set<string>();
  for (const { name } of switches) {
    if (names.has(name)) value.fault(`the switch ${name} is listed twice`);
    names.add(name);
  }
  return switches;
}

function readSwitch(name: string, written: WrittenValue): WrittenSwitch {
  // A link that says no name has that of its switch.
  const fault = linkNameFault(name);
  if (fault !== undefined) written.fault(`"${name}" cannot be the name of a switch: it ${fault}`);
  const isName = written.isNothing || written.text === name;
  const fields = isName ? new Map<string, WrittenValue>() : fieldsOf(written, 'a switch', ['subnet', 'vlans', 'mtu']);
  return {
    name,
    subnets: readSubnets(fields.get('subnet')),
    vlans: readVlans(fields.get('vlans')),
    mtu: readMtu(fields.get('mtu')),
    at: written.at,
  };
}

/** `[20, 21]`, or with their networks: `{ 20: 172.17.0.0/24, 21: 172.18.0.0/24 }`. */
function readVlans(value: WrittenValue | undefined): WrittenVlan[] | undefined {
  if (value === undefined || value.isNothing) return undefined;
  if (value.fields !== undefined) {
    return value.fields.flatMap(({ key, value: subnets }) => {
      const id = vlanNumber(key);
      return id === undefined ? [] : [{ id, subnets: readSubnets(subnets) }];
    });
  }
  if (value.items === undefined) {
    value.fault(
      `${value.shown} are no VLANs: write a list, such as [20, 21], or their networks, such as { 20: 172.17.0.0/24 }`,
    );
    return undefined;
  }
  const found = value.items.flatMap((item) => vlanNumber(item) ?? []);
  if (new Set(found).size < found.length) value.fault('a VLAN is listed twice');
  return found.map((id) => ({ id, subnets: [] }));
}

function readMtu(value: WrittenValue | undefined): number | undefined {
  return value === undefined || value.isNothing ? undefined : wholeNumber(value, 'MTU', 576, 9216);
}
