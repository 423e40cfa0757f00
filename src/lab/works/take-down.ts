import type { System } from '../../runtime/clock.ts';
import { withdrawNode } from '../hosts/nodes.ts';
import { LabError } from '../lab-error.ts';
import { removeNetwork } from '../network/remove-network.ts';
import { LABS, LabPlaces } from '../state/places.ts';
import { forgetLab, type LabRecord, readRecord, writeFaults, writeRecord } from '../state/record.ts';
import { removeIfEmpty, takeTurn } from '../state/turn.ts';
import { LabClient } from './api.ts';
import { clearHosts } from './clear-host.ts';
import { stopKeeper } from './keeping.ts';

export interface TakeDownOptions {
  /** Does not even try to tell the API. */
  readonly force: boolean;
  say(sentence: string): void;
  readonly system: System;
}

/** Leaves nothing of a lab: no process, link, namespace, cgroup or file, and no Node. It may be interrupted, and done again. */
export async function takeDown(lab: string, { force, say, system }: TakeDownOptions): Promise<void> {
  using _ = await takeTurn(new LabPlaces(lab).turn, {
    clock: system,
    waiting: (who) => say(`waiting for process ${who ?? '?'}, which works on the lab ${lab}`),
  });
  const record = readRecord(lab);
  if (record === undefined) throw new LabError(`there is no lab ${lab}`);
  const { plan } = record;
  writeRecord({ ...record, complete: false });
  writeFaults(lab, { cut: [], dead: plan.hosts.map(({ name }) => name) });
  await stopKeeper(lab, system);
  await clearHosts(plan, plan.hosts, system);
  await removeNetwork(plan, system);
  await withdrawNodes(record, { force, say, system });
  forgetLab(lab);
  removeIfEmpty(LABS);
}

async function withdrawNodes({ plan, api }: LabRecord, { force, say, system }: TakeDownOptions): Promise<void> {
  const hosts = plan.hosts.filter(({ agent }) => agent);
  if (api === undefined || hosts.length === 0) return;
  const left = `the Nodes ${hosts.map(({ name }) => name).join(', ')} may be left in ${api.server}`;
  if (force) {
    say(left);
    return;
  }
  try {
    using opened = await LabClient.open(api.kubeconfig, system);
    await Promise.all(hosts.map((host) => withdrawNode(opened.client, plan.name, host)));
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}; ${left}`);
  }
}
