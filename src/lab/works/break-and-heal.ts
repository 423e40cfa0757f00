import type { Clock } from '../../runtime/clock.ts';
import { cutLinks, healed, killed, type LabFaults, linkNames } from '../faults.ts';
import { isAgentOf, isSupervisorOf, kill, RunningProcesses } from '../hosts/processes.ts';
import { LabError } from '../lab-error.ts';
import { makeNetwork } from '../network/make-network.ts';
import type { LabPlan, PlannedHost } from '../plan/lab-plan.ts';
import { LabPlaces } from '../state/places.ts';
import {
  hasIpv6Pods,
  isGone,
  type LabRecord,
  readFaults,
  readRecord,
  upCommand,
  writeFaults,
} from '../state/record.ts';
import { takeTurn } from '../state/turn.ts';
import { clearHosts } from './clear-host.ts';
import { tellKeeper } from './keeping.ts';

/** A host of a lab, or one of its links. */
export interface Target {
  readonly lab: string;
  readonly host: string;
  readonly link?: string | undefined;
}

/** The link has no carrier any more, at both ends; without a link, all of the host have none. */
export async function cut({ lab, host, link }: Target, clock: Clock): Promise<void> {
  await change(lab, clock, (plan, faults) => {
    const planned = hostOf(plan, host);
    checkLink(planned, link);
    if (faults.dead.includes(host))
      throw new LabError(`${host} is dead, and so are its links; "netloom lab heal ${host}" brings it back`);
    return cutLinks(faults, planned, link);
  });
}

/** What was cut is whole again; without a link, all of it is, and a dead host lives. */
export async function heal({ lab, host, link }: Target, clock: Clock): Promise<void> {
  await change(lab, clock, (plan, faults) => {
    const planned = hostOf(plan, host);
    checkLink(planned, link);
    return healed(faults, planned, link);
  });
}

export async function healAll(lab: string, clock: Clock): Promise<void> {
  await change(lab, clock, () => ({ cut: [], dead: [] }));
}

/** The host is gone, with all that ran on it. */
export async function killHost({ lab, host }: Target, clock: Clock): Promise<void> {
  await change(lab, clock, (plan, faults) => killed(faults, hostOf(plan, host).name));
}

/** Whoever should start it again does. */
export function killProcess({ lab, host }: Target, which: 'agent' | 'supervisor'): number {
  const record = readRecord(lab);
  if (record === undefined) throw new LabError(`there is no lab ${lab}`);
  const planned = hostOf(record.plan, host);
  const processes = new RunningProcesses().inHost({ host: planned });
  const found = processes.find(which === 'agent' ? isAgentOf(planned) : isSupervisorOf(planned));
  if (found === undefined) throw new LabError(`no ${which} runs on ${host}`);
  kill(found.pid);
  return found.pid;
}

async function change(
  lab: string,
  clock: Clock,
  decide: (plan: LabPlan, faults: LabFaults) => LabFaults,
): Promise<void> {
  using _ = await takeTurn(new LabPlaces(lab).turn, { clock });
  const record = readRecord(lab);
  if (record === undefined) throw new LabError(`there is no lab ${lab}`);
  if (isGone(record)) throw new LabError(goneSentence(record));
  const { plan, api } = record;
  const before = readFaults(lab);
  const faults = decide(plan, before);
  const dying = plan.hosts.filter(({ name }) => faults.dead.includes(name) && !before.dead.includes(name));
  writeFaults(lab, faults);
  // Before it ends, so that its agent is not started again; after the network is there when it comes.
  if (dying.length > 0) {
    tellKeeper(lab);
    await clearHosts(plan, dying, clock);
  }
  makeNetwork(plan, faults, { ipv6: hasIpv6Pods(api) });
  tellKeeper(lab);
}

/** For somebody who wants something of it. */
export const goneSentence = (record: LabRecord): string =>
  `nothing of the lab ${record.plan.name} is there, as after a reboot: "${upCommand(record)}" brings it back`;

export function hostOf({ name, hosts }: LabPlan, host: string): PlannedHost {
  const found = hosts.find((each) => each.name === host);
  if (found !== undefined) return found;
  throw new LabError(`the lab ${name} has no host ${host}; it has ${hosts.map((each) => each.name).join(', ')}`);
}

function checkLink(host: PlannedHost, link: string | undefined): void {
  if (link === undefined || linkNames(host).includes(link)) return;
  throw new LabError(`${host.name} has no link ${link}; it has ${linkNames(host).join(', ')}`);
}
