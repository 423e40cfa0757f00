import { readCables } from './cables.ts';
import { fieldsOf } from './fields.ts';
import { readHosts } from './hosts.ts';
import type { LabDocument } from './lab-document.ts';
import { LONGEST_LAB, nameFault } from './names.ts';
import { readSubnet } from './networks.ts';
import { readSwitches } from './switches.ts';
import { type Fault, WrittenFile, type WrittenValue } from './written.ts';

/** Reads the text of a lab. All that is wrong with it is told at once. */
export function readLabDocument(text: string): { document: LabDocument } | { faults: readonly Fault[] } {
  const file = new WrittenFile(text);
  if (file.faults.length > 0) return { faults: file.faults };
  const fields = fieldsOf(file.root, 'a lab', ['lab', 'management', 'switches', 'hosts', 'links']);
  const document: LabDocument = {
    name: file.faults.length > 0 && fields.size === 0 ? '' : readName(file.root, fields.get('lab')),
    management: readManagement(fields.get('management')),
    switches: readSwitches(fields.get('switches')),
    hosts: readHosts(fields.get('hosts')),
    cables: readCables(fields.get('links')),
  };
  if (file.faults.length === 0 && document.hosts.length === 0) {
    file.root.fault('a lab needs hosts: write their names, such as hosts: [a, b]');
  }
  if (document.hosts.length > MOST_HOSTS) {
    file.root.fault(
      `there are ${document.hosts.length} hosts: a lab has up to ${MOST_HOSTS}, because a bridge of the kernel has not many more ports`,
    );
  }
  return file.faults.length > 0 ? { faults: file.faults } : { document };
}

function readName(root: WrittenValue, value: WrittenValue | undefined): string {
  const name = value?.text;
  if (value === undefined || value.isNothing) root.fault('a lab needs a name: write lab: NAME in its first line');
  else if (name === undefined) value.fault(`${value.shown} is no name`);
  else {
    const fault = nameFault(name, LONGEST_LAB);
    if (fault !== undefined) value.fault(`"${name}" cannot be the name of a lab: it ${fault}`);
  }
  return name ?? '';
}

function readManagement(value: WrittenValue | undefined): LabDocument['management'] {
  if (value === undefined || value.isNothing) return undefined;
  const subnet = readSubnet(value);
  if (subnet === undefined) return undefined;
  if (subnet.family !== 4 || subnet.length > 28 || subnet.length < 16) {
    value.fault(`${subnet} cannot be the management network: it is one of IPv4 from /16 to /28`);
  }
  return { subnet, at: value.at };
}

const MOST_HOSTS = 1000;
