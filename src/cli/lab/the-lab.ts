import { existsSync, readFileSync } from 'node:fs';
import { readLabDocument } from '../../lab/document/read-document.ts';
import { LabError } from '../../lab/lab-error.ts';
import type { PlannedHost } from '../../lab/plan/lab-plan.ts';
import { type LabRecord, readRecord, readRecords } from '../../lab/state/record.ts';
import { CommandError } from '../command.ts';
import { suggestion } from '../nearest.ts';

/** Labs are made in the kernel, and their files are for the eyes of root. */
export function requireRoot(doing: string): void {
  if (process.getuid?.() !== 0)
    throw new CommandError(`"netloom lab ${doing}" needs root, as everything that labs are made of`);
}

/** The lab that is meant: by its name, by its file, or the only one. */
export function theLab(which: string | undefined): LabRecord {
  const labs = readRecords();
  const names = labs.map(({ plan }) => plan.name);
  if (which === undefined) {
    const [only, another] = labs;
    if (only === undefined)
      throw new CommandError('there is no lab on this machine: make one with "netloom lab up FILE"');
    if (another !== undefined)
      throw new CommandError(`there are several labs: say which of ${names.join(', ')} is meant`);
    return only;
  }
  const name = which.includes('/') || /\.ya?ml$/.test(which) ? nameIn(which) : which;
  const found = readRecord(name);
  if (found !== undefined) return found;
  const known = names.length === 0 ? 'there is none on this machine' : `labs are ${names.join(', ')}`;
  throw new CommandError(`there is no lab ${name}; ${known}.${suggestion(name, names)}`);
}

/** Whether a lab has that name, and no host. */
export function isLab(name: string): boolean {
  const labs = readRecords();
  const isHost = labs.some(({ plan }) => plan.hosts.some((host) => host.name === name));
  return !isHost && labs.some(({ plan }) => plan.name === name);
}

/** The host that is meant: by its name, or as LAB/HOST where several labs have one of that name. */
export function theHost(which: string): { lab: LabRecord; host: PlannedHost } {
  const hosts = readRecords().flatMap((lab) => lab.plan.hosts.map((host) => ({ lab, host })));
  const fullName = ({ lab, host }: (typeof hosts)[number]) => `${lab.plan.name}/${host.name}`;
  const [found, another] = hosts.filter((each) => [each.host.name, fullName(each)].includes(which));
  if (found !== undefined && another === undefined) return found;
  if (found !== undefined) {
    const names = hosts.filter(({ host }) => host.name === which).map(fullName);
    throw new CommandError(`several labs have a host ${which}: say which of ${names.join(', ')} is meant`);
  }
  const names = which.includes('/') ? hosts.map(fullName) : hosts.map(({ host }) => host.name);
  const known = names.length === 0 ? 'no lab is there' : `hosts are ${names.join(', ')}`;
  throw new CommandError(`there is no host ${which}; ${known}.${suggestion(which, names)}`);
}

/** A refusal is for whoever has typed the command. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof LabError ? new CommandError(error.message) : error;
  }
}

function nameIn(file: string): string {
  if (!existsSync(file)) throw new CommandError(`${file} cannot be read: there is no such file`);
  const read = readLabDocument(readFileSync(file, 'utf8'));
  if ('faults' in read) throw new CommandError(LabError.of(file, read.faults).message);
  return read.document.name;
}
