import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import path from 'node:path';
import packageFile from '../../../../package.json' with { type: 'json' };
import { Cgroups } from '../../../linux/cgroups.ts';
import { lockFile } from '../../../linux/file-lock.ts';
import { asError, lineLog } from '../../../runtime/log.ts';
import { system } from '../../../runtime/system.ts';
import { Containers, SUPERVISOR } from './containers.ts';
import { viewOfHost } from './host-view.ts';
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
const lock = lockFile(path.join(runDirectory, 'supervisor.lock'));
if ('heldBy' in lock) {
  log.info('another supervisor has the containers of this host', { runDirectory });
  process.exit(0);
}

const cgroups = new Cgroups();
cgroups.make(cgroup);
const containers = new Containers({
  clock: system,
  cgroups,
  view: viewOfHost({ own: [stateDirectory, runDirectory, ...options.hidden], cgroups }),
  group: cgroup,
  layers: path.join(stateDirectory, 'containers'),
  changed: (state) => server.changed(state),
});
await containers.clean();

const socket = path.join(runDirectory, 'supervisor.sock');
const server = new SupervisorServer({ containers, version: packageFile.version, clock: system, leave });
rmSync(socket, { force: true });
await server.listen(socket);
chmodSync(socket, 0o600);
// A fault of ours must not end the containers of everybody.
process.stderr.on('error', () => {});
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => log.error('something went wrong', { error: asError(error) }));
}
log.info('supervising', { runDirectory, pid: process.pid });
// Not only at the end, which may be a long way off: the next one starts in half the memory.
flushCompileCache();
process.on('SIGTERM', () => void containers.removeAll().finally(leave));

function leave(): void {
  server.close();
  if (existsSync(socket)) rmSync(socket);
  cgroups.remove(`${cgroup}/${SUPERVISOR}`);
  cgroups.remove(cgroup);
  log.info('leaving', { pid: process.pid });
  process.exit(0);
}
