import { chmodSync, mkdirSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import path from 'node:path';
import packageFile from '../../../../package.json' with { type: 'json' };
import { Cgroups } from '../../../linux/cgroups.ts';
import { beSpared } from '../../../linux/out-of-memory.ts';
import { asError, lineLog } from '../../../runtime/log.ts';
import { system } from '../../../runtime/system.ts';
import { claimHost } from './claim-host.ts';
import { Containers, SUPERVISOR } from './containers.ts';
import { viewOfHost, viewsOfHost } from './host-view.ts';
import { KeptSocket } from './kept-socket.ts';
import { SupervisorServer } from './server.ts';

/**
 * The process that has the containers of a host: `SupervisedRuntime` starts it. It imports as little as it can, because
 * it runs on every host and for as long as any container does.
 */
export interface SupervisorOptions {
  readonly runDirectory: string;
  readonly stateDirectory: string;
  /** The group below which all groups of this host are. */
  readonly cgroup: string;
  /** Further folders that no container may see. */
  readonly hidden: readonly string[];
}

/** At the limits of pods, in milliseconds. */
const LOOK_EVERY = 3_000;
const options = JSON.parse(process.argv[2] ?? '{}') as SupervisorOptions;
const { runDirectory, stateDirectory, cgroup } = options;
const log = lineLog({ clock: system, write: (line) => process.stderr.write(line) });

process.title = `netloom-supervisor ${cgroup}`;
process.chdir('/');
process.umask(0o022);
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

mkdirSync(runDirectory, { recursive: true, mode: 0o700 });
chmodSync(runDirectory, 0o700);
mkdirSync(stateDirectory, { recursive: true, mode: 0o700 });
const cgroups = new Cgroups();
const refusal = claimHost({ cgroups, group: cgroup, lockFile: path.join(runDirectory, 'supervisor.lock') });
if (refusal !== undefined) {
  log.error(refusal, { runDirectory });
  process.exit(1);
}
// With it go all containers of the host, and it has next to no memory that anybody could gain.
beSpared(-999);
// Whoever ends the group of the agent, as an upgrade does, does not end the containers.
cgroups.make(`${cgroup}/${SUPERVISOR}`);
cgroups.join(`${cgroup}/${SUPERVISOR}`);
const missing = cgroups.missing();
if (missing.length > 0) {
  log.warn('this machine cannot limit everything: its cgroups lack controllers', { missing: missing.join(' ') });
}

const containers = new Containers({
  clock: system,
  cgroups,
  view: viewsOfHost(system, () => viewOfHost({ own: [stateDirectory, runDirectory, ...options.hidden], cgroups })),
  group: cgroup,
  layers: path.join(stateDirectory, 'containers'),
  changed: (state) => server.changed(state),
});
await containers.clean();

const server = new SupervisorServer({ containers, version: packageFile.version, clock: system, leave });
const socket = new KeptSocket(path.join(runDirectory, 'supervisor.sock'), {
  clock: system,
  log,
  serve: (each) => server.accept(each),
});
await socket.open();
// A fault of ours must not end the containers of everybody.
process.stderr.on('error', () => {});
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => log.error('something went wrong', { error: asError(error) }));
}
log.info('supervising', { runDirectory, pid: process.pid });
// Not only at the end, which may be a long way off: the next one starts in half the memory.
flushCompileCache();
process.on('SIGTERM', () => void containers.removeAll().finally(leave));
lookAtLimits();

function lookAtLimits(): void {
  system.timer(LOOK_EVERY, () => {
    containers.lookAtLimits();
    lookAtLimits();
  });
}

function leave(): void {
  socket.close();
  // A group with a process in it cannot be removed.
  cgroups.join('');
  cgroups.remove(`${cgroup}/${SUPERVISOR}`);
  cgroups.remove(cgroup);
  log.info('leaving', { pid: process.pid });
  process.exit(0);
}
