import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isNetworkNamespace, networkNamespacePath } from '../../linux/network-namespace.ts';
import { removeTreeNow } from '../../linux/remove-tree.ts';
import { type LabFaults, NO_FAULTS } from '../faults.ts';
import type { LabPlan } from '../plan/lab-plan.ts';
import { LABS, LabPlaces } from './places.ts';

/** What is kept of a lab for as long as there is anything of it: from before the first thing is made until after the last is removed. */
export interface LabRecord {
  readonly plan: LabPlan;
  /** Where the document was read. */
  readonly file: string;
  /** Undefined for a lab without agents. */
  readonly api?: LabApi;
  /** False while it is being made or removed: then something may be missing or left. */
  readonly complete: boolean;
}

export interface LabApi {
  /** Of whoever made the lab. */
  readonly kubeconfig: string;
  readonly server: string;
  /** What Services have their addresses from; undefined where the API does not say. */
  readonly serviceCidrs?: string;
  /** What pods have theirs from. */
  readonly podCidrs?: string;
}

/** Whether hosts need IPv6 addresses, for their pods have some. */
export const hasIpv6Pods = (api: LabApi | undefined): boolean => api?.podCidrs?.includes(':') === true;

export function readRecord(lab: string): LabRecord | undefined {
  return readJson<LabRecord>(new LabPlaces(lab).record);
}

export function writeRecord(record: LabRecord): void {
  writeJson(new LabPlaces(record.plan.name).record, record);
}

/** Whether there is nothing of it but what is on disks, as after a reboot. */
export const isGone = ({ plan, complete }: LabRecord): boolean =>
  complete && !isNetworkNamespace(networkNamespacePath(plan.namespace));

/** What brings it back, or finishes it. What was read from a pipe has been kept. */
export const upCommand = ({ plan, file }: LabRecord): string =>
  `netloom lab up ${file.startsWith('/') ? file : new LabPlaces(plan.name).document}`;

export function readFaults(lab: string): LabFaults {
  return readJson<LabFaults>(new LabPlaces(lab).faults) ?? NO_FAULTS;
}

export function writeFaults(lab: string, faults: LabFaults): void {
  writeJson(new LabPlaces(lab).faults, faults);
}

/** Every lab of this machine. */
export function readRecords(): LabRecord[] {
  if (!existsSync(LABS)) return [];
  return readdirSync(LABS)
    .sort()
    .flatMap((lab) => readRecord(lab) ?? []);
}

/** Nothing of the lab is left on the disk; what other labs share goes with the last one. */
export function forgetLab(lab: string): void {
  const places = new LabPlaces(lab);
  rmSync(places.run, { recursive: true, force: true });
  removeTreeNow(places.state);
}

/** Written by us alone, as a whole: what is there is as we wrote it. */
function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function writeJson(file: string, value: object): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}
