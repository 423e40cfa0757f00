import { parseQuantity } from '../../api/quantity.ts';
import { labelValueFaults, qualifiedNameFaults } from '../../api/syntax.ts';
import { fieldsOf } from './fields.ts';
import type { Taint, WrittenHost } from './lab-document.ts';
import { readLinks } from './links.ts';
import { LONGEST_HOST, nameFault } from './names.ts';
import type { WrittenValue } from './written.ts';

/** `[a, b]`, or what there is to say about each. */
export function readHosts(value: WrittenValue | undefined): WrittenHost[] {
  if (value === undefined || value.isNothing) return [];
  const hosts =
    value.fields?.map(({ key, value: written }) => readHost(key, written)) ??
    value.items?.map((item) => readHost(item, undefined));
  if (hosts === undefined) {
    value.fault(
      `${value.shown} are no hosts: write a list of names, such as [a, b], or a mapping from names to what they are`,
    );
    return [];
  }
  const names = new Set<string>();
  for (const { name } of hosts) {
    if (names.has(name)) value.fault(`the host ${name} is listed twice`);
    names.add(name);
  }
  return hosts;
}

function readHost(key: WrittenValue, value: WrittenValue | undefined): WrittenHost {
  const name = key.text ?? '';
  const fault = nameFault(name, LONGEST_HOST);
  if (fault !== undefined) key.fault(`${key.shown} cannot be the name of a host: it ${fault}`);
  const fields =
    value === undefined || value.isNothing
      ? new Map<string, WrittenValue>()
      : fieldsOf(value, 'a host', ['links', 'labels', 'taints', 'resources', 'agent']);
  const agent = fields.get('agent');
  if (agent !== undefined && agent.truth === undefined) agent.fault(`${agent.shown} is neither true nor false`);
  return {
    name,
    links: readLinks(fields.get('links')),
    labels: readLabels(fields.get('labels')),
    taints: readTaints(fields.get('taints')),
    resources: readResources(fields.get('resources')),
    agent: agent?.truth ?? true,
    at: value?.at ?? key.at,
  };
}

function readLabels(value: WrittenValue | undefined): Record<string, string> {
  return Object.fromEntries(
    entriesOf(value, 'labels', '{ role: compute }').map(({ name, value: written, key }) => {
      for (const fault of qualifiedNameFaults(name)) key.fault(`"${name}" cannot be the key of a label: ${fault}`);
      const text = written.isNothing ? '' : written.text;
      if (text === undefined) written.fault(`${written.shown} is no value of a label: write a text`);
      for (const fault of labelValueFaults(text ?? ''))
        written.fault(`${written.shown} cannot be the value of a label: ${fault}`);
      return [name, text ?? ''];
    }),
  );
}

function readResources(value: WrittenValue | undefined): Record<string, string> {
  return Object.fromEntries(
    entriesOf(value, 'resources', '{ cpu: 4, memory: 8Gi, pods: 50 }').map(({ name, value: written, key }) => {
      for (const fault of qualifiedNameFaults(name)) key.fault(`"${name}" cannot be the name of a resource: ${fault}`);
      const amount = parseQuantity(written.text);
      if (amount === undefined || amount.nanos <= 0n) {
        written.fault(`${written.shown} is no amount of ${name}: write one such as 4, 500m or 8Gi`);
      }
      return [name, written.text ?? ''];
    }),
  );
}

/** `KEY=VALUE:EFFECT`, as kubectl taint takes them. */
function readTaints(value: WrittenValue | undefined): Taint[] {
  if (value === undefined || value.isNothing) return [];
  return (value.items ?? [value]).flatMap((item) => {
    const parts = /^([^=:]+)(?:=([^:]*))?:([A-Za-z]+)$/.exec(item.text ?? '');
    const [, key = '', text, effect = ''] = parts ?? [];
    const known = EFFECTS.find((each) => each === effect);
    if (parts === null || known === undefined) {
      item.fault(
        `${item.shown} is no taint: write KEY=VALUE:EFFECT or KEY:EFFECT, where EFFECT is ${EFFECTS.join(', ')}`,
      );
      return [];
    }
    for (const fault of qualifiedNameFaults(key)) item.fault(`"${key}" cannot be the key of a taint: ${fault}`);
    for (const fault of labelValueFaults(text ?? '')) item.fault(`"${text}" cannot be the value of a taint: ${fault}`);
    return [{ key, ...(text === undefined ? {} : { value: text }), effect: known }];
  });
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

function entriesOf(value: WrittenValue | undefined, what: string, example: string) {
  if (value === undefined || value.isNothing) return [];
  if (value.fields === undefined) value.fault(`${value.shown} are no ${what}: write a mapping, such as ${example}`);
  return value.fields ?? [];
}
