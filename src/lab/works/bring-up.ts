import { mkdirSync, writeFileSync } from 'node:fs';
import { enrol } from '../../agent/enrol.ts';
import { kernelFeatures } from '../../linux/kernel-features.ts';
import { removeTreeNow } from '../../linux/remove-tree.ts';
import type { System } from '../../runtime/clock.ts';
import type { LabDocument } from '../document/lab-document.ts';
import { readLabDocument } from '../document/read-document.ts';
import type { Fault } from '../document/written.ts';
import { NO_FAULTS } from '../faults.ts';
import { announceNode, forgetWords, removeTaints, withdrawNode } from '../hosts/nodes.ts';
import { isAgentOf, isSupervisorOf, RunningProcesses } from '../hosts/processes.ts';
import { LabError } from '../lab-error.ts';
import { makeNetwork } from '../network/make-network.ts';
import { removeNetwork, removeParts } from '../network/remove-network.ts';
import { managementAddresses } from '../plan/addressing.ts';
import { type Changes, changesBetween, goneHosts, goneNodes, goneTaints } from '../plan/changes.ts';
import type { LabPlan, PlannedHost } from '../plan/lab-plan.ts';
import { podOverlaps } from '../pod-networks.ts';
import { EVERYBODYS_TURN, LabPlaces } from '../state/places.ts';
import { hasIpv6Pods, type LabRecord, readRecord, readRecords, writeFaults, writeRecord } from '../state/record.ts';
import { takeTurn } from '../state/turn.ts';
import { type LabClient, wayFrom } from './api.ts';
import { clearHosts } from './clear-host.ts';
import { fitIn, ownFaults } from './fit-in.ts';
import { startKeeper, tellKeeper } from './keeping.ts';
import { kernelFaults } from './kernel-faults.ts';

export interface BringUpOptions {
  /** Where the document was read, and what it says. */
  readonly file: string;
  readonly text: string;
  readonly document: LabDocument;
  /** Undefined for a lab without agents. */
  readonly api: LabClient | undefined;
  /** Starts the keeper of the lab, as a process of its own. */
  startKeeper(lab: string): void;
  say(sentence: string): void;
  readonly system: System;
}

export interface BroughtUp {
  readonly record: LabRecord;
  /** host → when its agent was to be started, for those that had none */
  readonly started: ReadonlyMap<string, number>;
}

/**
 * Makes a lab what its document says, whatever is there of it: nothing yet, half of it, something else, or all of it already, and
 * then nothing is disturbed. What was cut is whole again, and who was dead lives. Nothing is made before everything is known to fit.
 */
export async function bringUp(options: BringUpOptions): Promise<BroughtUp> {
  const { document } = options;
  using _ = await takeTurn(new LabPlaces(document.name).turn, {
    clock: options.system,
    waiting: (who) => options.say(`waiting for process ${who ?? '?'}, which works on the lab ${document.name}`),
  });
  const record = await claim(document, options);
  const started = await make(record, options);
  const complete = { ...record, complete: true };
  writeRecord(complete);
  return { record: complete, started };
}

/** Refuses what no machine could be, and what this kernel cannot: all of it at once, and nobody else is asked before. */
export async function possibleDocument(file: string, text: string): Promise<LabDocument> {
  const read = readLabDocument(text);
  if ('faults' in read) throw LabError.of(file, read.faults);
  const { document } = read;
  const faults = [...kernelFaults(document, await kernelFeatures()), ...ownFaults(document)];
  if (faults.length > 0) throw LabError.of(file, faults.sort(byLine));
  return document;
}

const byLine = (one: Fault, other: Fault): number => one.line - other.line;

/** From the moment on at which this is written, nobody else can have what this lab needs. */
async function claim(document: LabDocument, options: BringUpOptions): Promise<LabRecord> {
  const { file, text, api, system } = options;
  using _ = await takeTurn(EVERYBODYS_TURN, { clock: system });
  const before = readRecord(document.name);
  const others = readRecords().filter(({ plan }) => plan.name !== document.name);
  const plan = await fitIn(document, { file, api, before, others });
  const described = await api?.described();
  if (described !== undefined) considerPods(document, described.podCidrs, options);
  for (const other of others) {
    if (api === undefined || other.api?.server !== api.api.server) continue;
    options.say(
      `pods here and those of the lab ${other.plan.name} do not reach each other, though they are in one cluster: there is no network between labs`,
    );
  }
  if (before !== undefined) await removeChanged(before, plan, options);
  const record = { plan, file, ...(described === undefined ? {} : { api: described }), complete: false };
  writeRecord(record);
  writeFileSync(new LabPlaces(document.name).document, text, { mode: 0o600 });
  return record;
}

function considerPods(document: LabDocument, podCidrs: string | undefined, { file, say }: BringUpOptions): void {
  const { faults, isCertain } = podOverlaps(document, podCidrs);
  if (faults.length > 0 && isCertain) throw LabError.of(file, faults);
  for (const { sentence } of faults) say(sentence);
}

/** What is to become something else is taken away first. Until it is, the record knows of it. */
async function removeChanged(before: LabRecord, after: LabPlan, { api, system, say }: BringUpOptions): Promise<void> {
  const { name } = before.plan;
  const changes = changesBetween(before.plan, after);
  const { hosts, isWhole } = changes;
  const gone = goneHosts(before.plan, after);
  if (before.complete) sayChanges(changes, gone, say);
  if (hosts.length > 0) {
    writeFaults(name, { cut: [], dead: hosts.map((host) => host.name) });
    tellKeeper(name);
    await clearHosts(before.plan, hosts, system);
  }
  if (isWhole) await removeNetwork(before.plan, system);
  else removeParts(before.plan, changes);
  if (api !== undefined) {
    for (const host of goneNodes(before.plan, after)) await withdrawNode(api.client, name, host);
    for (const { host, taints } of goneTaints(before.plan, after)) await removeTaints(api.client, host.name, taints);
  }
  for (const host of gone) removeTreeNow(new LabPlaces(name).host(host.name).state);
}

function sayChanges({ hosts, links }: Changes, gone: readonly PlannedHost[], say: (sentence: string) => void): void {
  const others = hosts.filter((host) => !gone.includes(host));
  if (gone.length > 0) say(`removing: ${gone.map(({ name }) => name).join(', ')}`);
  if (others.length > 0) say(`making anew: ${others.map(({ name }) => name).join(', ')}`);
  if (links.length > 0) say(`plugging anew: ${links.map(({ host, link }) => `${host.name}:${link.name}`).join(', ')}`);
}

async function make(
  record: LabRecord,
  { api, system, say, startKeeper: start }: BringUpOptions,
): Promise<BroughtUp['started']> {
  const { plan } = record;
  const places = new LabPlaces(plan.name);
  writeFaults(plan.name, NO_FAULTS);
  const ipv6 = hasIpv6Pods(record.api);
  makeNetwork(plan, NO_FAULTS, { ipv6 });
  say(`network: ${counted(plan.hosts, 'host')}, ${counted(plan.switches, 'switch', 'switches')}`);
  if (api === undefined) return new Map();
  const withAgents = plan.hosts.filter(({ agent }) => agent);
  await Promise.all(withAgents.map((host) => introduce(plan, host, { api, ipv6, places, system })));
  say(`agents: ${withAgents.length} known to ${api.connection.server}`);
  const running = new RunningProcesses();
  const now = system.now();
  const fresh = withAgents.filter((host) => !running.inHost({ host }).some(isAgentOf(host)));
  const lifeless = fresh.filter((host) => !running.inHost({ host }).some(isSupervisorOf(host)));
  await forgetWords(api.client, lifeless, system);
  await startKeeper(plan.name, () => start(plan.name), system);
  return new Map(fresh.map(({ name }) => [name, now]));
}

const counted = ({ length }: readonly unknown[], one: string, many = `${one}s`): string =>
  `${length} ${length === 1 ? one : many}`;

/** Makes a host known to the API, as which its agent then speaks: it never sees the credentials of who made the lab. */
async function introduce(
  plan: LabPlan,
  host: PlannedHost,
  { api, ipv6, places, system }: { api: LabClient; ipv6: boolean; places: LabPlaces; system: System },
): Promise<void> {
  const { state } = places.host(host.name);
  mkdirSync(state, { recursive: true, mode: 0o700 });
  await Promise.all([
    announceNode(api.client, plan.name, host),
    enrol({
      client: api.client,
      way: wayFrom(plan, api.connection),
      name: host.name,
      addresses: managementAddresses(host, { ipv6 }),
      stateDirectory: state,
      system,
    }),
  ]);
}
