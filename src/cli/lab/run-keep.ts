import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { LAB_LABEL } from '../../api/core/node.ts';
import { LabKeeper } from '../../lab/hosts/keeper.ts';
import { cgroupOf } from '../../lab/hosts/processes.ts';
import { managementAddresses, underlaysOf } from '../../lab/plan/addressing.ts';
import type { PlannedHost } from '../../lab/plan/lab-plan.ts';
import { LabPlaces } from '../../lab/state/places.ts';
import { hasIpv6Pods, readRecord } from '../../lab/state/record.ts';
import { lockFile } from '../../linux/file-lock.ts';
import { inNetworkNamespace, networkNamespacePath } from '../../linux/network-namespace.ts';
import { sleep } from '../../runtime/clock.ts';
import { lineLog } from '../../runtime/log.ts';
import { system } from '../../runtime/system.ts';
import { agentFlags } from '../agent/process-flags.ts';
import { CommandError } from '../command.ts';
import { signalled } from '../server/signalled.ts';
import { ApiWay } from './api-way.ts';
import { KeeperGuard } from './keeper-process.ts';
import { LogFiles } from './log-files.ts';
import { requireRoot } from './the-lab.ts';

/** Runs until a signal ends it, and with it the agents of the lab. */
export async function labKeep(lab: string): Promise<void> {
  requireRoot('keep');
  if (readRecord(lab) === undefined)
    throw new CommandError(`there is no lab ${lab}: make it with "netloom lab up FILE"`);
  const log = lineLog({ clock: system, write: (line) => process.stderr.write(line) }, { lab });
  const places = new LabPlaces(lab);
  mkdirSync(places.run, { recursive: true, mode: 0o700 });
  const lock = await lockSoon(places.keeperLock);
  if ('heldBy' in lock) throw new CommandError(`process ${lock.heldBy ?? '?'} keeps the lab ${lab} already`);
  // Looked for only now, as whoever takes the lab down removes it before he looks who has the lock.
  if (!existsSync(places.kept))
    throw new CommandError(`the lab ${lab} is not up: bring it up with "netloom lab up FILE"`);
  const guard = new KeeperGuard(lab, system);
  const stopped = signalled(log);
  const keeper = new LabKeeper({ lab, startAgent: (host) => startAgent(lab, places, host), system, log });
  const way = new ApiWay({ lab, system, log });
  const files = new LogFiles({ files: () => logsOf(lab), system });
  const refresh = () => {
    way.refresh();
    void keeper.refresh().catch((error) => log.error('the lab cannot be looked at', { error }));
  };
  process.on('SIGHUP', refresh);
  refresh();
  await stopped;
  files.stop();
  await keeper.stop();
  await way.stop();
  await guard.end();
  lock.release();
}

/** Whoever only looks whether there is a keeper has the lock for a moment. */
async function lockSoon(file: string): Promise<ReturnType<typeof lockFile>> {
  for (let tries = 1; ; tries += 1) {
    const lock = lockFile(file);
    if (!('heldBy' in lock) || tries === LOCK_TRIES) return lock;
    await sleep(system, LOCK_PAUSE);
  }
}

const LOCK_TRIES = 50;
const LOCK_PAUSE = 15;

/** Wholly in the network of its host, and in no other: there is no way to the API but the management link. */
function startAgent(lab: string, places: LabPlaces, host: PlannedHost): ChildProcess {
  const { state, run, log } = places.host(host.name);
  const api = readRecord(lab)?.api;
  const ipv6 = hasIpv6Pods(api);
  const words = [
    ...['agent', '--name', host.name],
    ...['--kubeconfig', path.join(state, 'agent', 'kubeconfig')],
    ...managementAddresses(host, { ipv6 }).flatMap((address) => ['--node-ip', address]),
    ...underlaysOf(host, { ipv6 }).flatMap((address) => ['--underlay-address', address]),
    ...['--state-dir', state, '--run-dir', run, '--cgroup', cgroupOf(host)],
    // Should somebody delete its Node, the one that it makes is the lab's again.
    ...['--label', `${LAB_LABEL}=${lab}`],
    ...(api?.serviceCidrs === undefined ? [] : ['--service-cidr', api.serviceCidrs]),
    ...(api?.podCidrs === undefined ? [] : ['--pod-cidr', api.podCidrs]),
    ...Object.entries(host.resources).flatMap(([name, amount]) => ['--resource', `${name}=${amount}`]),
  ];
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const output = openSync(log, 'a', 0o600);
  try {
    return inNetworkNamespace(networkNamespacePath(host.namespace), () =>
      spawn(process.execPath, [...process.execArgv, ...agentFlags, MAIN, ...words], {
        cwd: '/',
        // A signal for the keeper's group is not one for the agents.
        detached: true,
        stdio: ['ignore', output, output],
      }),
    );
  } finally {
    closeSync(output);
  }
}

function logsOf(lab: string): string[] {
  const places = new LabPlaces(lab);
  return [places.keeperLog, ...(readRecord(lab)?.plan.hosts ?? []).map(({ name }) => places.host(name).log)];
}

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
