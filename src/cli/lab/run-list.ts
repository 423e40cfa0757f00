import { isGone, type LabRecord, readRecords } from '../../lab/state/record.ts';
import { keeperOf } from '../../lab/works/keeping.ts';
import type { Terminal } from '../command.ts';
import { table } from './table.ts';
import { requireRoot } from './the-lab.ts';

export async function labList({ output }: { readonly output: 'json' | undefined }, terminal: Terminal): Promise<void> {
  requireRoot('list');
  const labs = readRecords().map((record) => ({
    name: record.plan.name,
    state: stateOf(record),
    hosts: record.plan.hosts.map(({ name }) => name),
    management: record.plan.management.subnet,
    file: record.file,
  }));
  if (output === 'json') {
    terminal.print(JSON.stringify(labs, undefined, 2));
    return;
  }
  if (labs.length === 0) {
    terminal.warn('there is no lab on this machine: make one with "netloom lab up FILE"');
    return;
  }
  terminal.print(
    table([
      ['LAB', 'STATE', 'HOSTS', 'MANAGEMENT', 'FILE'],
      ...labs.map(({ name, state, hosts, management, file }) => [name, state, `${hosts.length}`, management, file]),
    ]),
  );
}

function stateOf(record: LabRecord): string {
  if (!record.complete) return 'incomplete';
  if (isGone(record)) return 'gone';
  return record.api === undefined || keeperOf(record.plan.name) !== undefined ? 'up' : 'not kept';
}
