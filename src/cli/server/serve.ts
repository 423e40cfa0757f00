import { allKinds } from '../../api/kinds.ts';
import { dnsAdmission } from '../../dns/index.ts';
import { type Engine, startEngine } from '../../engine/engine.ts';
import { DirectoryInUse } from '../../engine/store/errors.ts';
import { ipamAdmission } from '../../ipam/index.ts';
import { portHolder } from '../../linux/port-holder.ts';
import { podsAdmission } from '../../pods/index.ts';
import { type Log, lineLog } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { system } from '../../runtime/system.ts';
import { vipsAdmission } from '../../vips/index.ts';
import { CommandError, type Terminal } from '../command.ts';
import type { AddressOptions } from './address-options.ts';
import { type Controllers, startControllers } from './controllers.ts';
import type { ServerOptions } from './options.ts';
import type { OwnHost } from './own-host.ts';
import type { OwnHostWishes } from './own-host-options.ts';
import { screen } from './screen.ts';
import { signalled } from './signalled.ts';
import type { WorkloadOptions } from './workload-options.ts';

type Composition = { readonly terminal: Terminal } & (
  | { readonly runs: 'engine' }
  | {
      readonly runs: 'everything';
      readonly addresses: AddressOptions;
      readonly workloads: WorkloadOptions;
      readonly evictAfterSeconds: number;
      /** Undefined where this machine is to run no pods. */
      readonly ownHost: OwnHostWishes | undefined;
    }
);

/** Runs until a signal ends it. */
export async function serve(options: ServerOptions, composition: Composition): Promise<void> {
  const { terminal } = composition;
  const log = lineLog({ clock: system, write: (line) => process.stderr.write(line) });
  const stopped = signalled(log);
  const metrics = new Metrics();
  const engine = await start(options, { log, metrics, composition });
  void engine.failed.then((error) => log.error('the store takes no more writes', { error }));
  let controllers: Controllers | undefined;
  let host: OwnHost | undefined;
  try {
    if (composition.runs === 'everything') {
      controllers = await startControllers({
        transport: engine.transport('netloom'),
        log,
        metrics,
        addresses: composition.addresses,
        workloads: composition.workloads,
      });
      const own = await ownHost(composition.ownHost, { engine, options, log });
      host = 'stop' in own ? own : undefined;
      const running = ['engine', ...controllers.names, ...(host === undefined ? [] : ['agent'])];
      terminal.print(screen({ url: engine.url, ...options, running, host: own }));
    } else {
      terminal.print(`ready ${engine.url}`);
    }
    await stopped;
  } finally {
    await Promise.all([host?.stop(), controllers?.stop()]);
    await engine.close();
  }
}

async function ownHost(
  wishes: OwnHostWishes | undefined,
  { engine, options, log }: { engine: Engine; options: ServerOptions; log: Log },
): Promise<OwnHost | { readonly reason: string }> {
  if (wishes === undefined) return { reason: 'switched off: this machine runs no pods' };
  const { startOwnHost } = await import('./own-host.ts');
  const { kubeconfig, directory } = options;
  return startOwnHost({ ...wishes, transport: engine.transport('netloom'), kubeconfig, directory, log });
}

async function start(
  options: ServerOptions,
  { log, metrics, composition }: { log: Log; metrics: Metrics; composition: Composition },
): Promise<Engine> {
  try {
    return await startEngine({
      ...options,
      log,
      kinds: allKinds,
      extraMetrics: () => metrics.read(),
      podNetworks: composition.runs === 'everything' ? (composition.workloads.pods?.podCidrs ?? []) : [],
      admission: [
        ...ipamAdmission,
        ...vipsAdmission(composition.runs === 'everything' ? composition.addresses : {}),
        ...dnsAdmission,
        ...(composition.runs === 'everything' && composition.workloads.pods !== undefined
          ? podsAdmission(composition)
          : []),
      ],
    });
  } catch (error) {
    throw await explained(error, options);
  }
}

/** What a person can do about an engine that does not start. */
async function explained(error: unknown, { host, port, directory }: ServerOptions): Promise<unknown> {
  if (error instanceof DirectoryInUse) {
    const who = error.pid === undefined ? 'another process' : `process ${error.pid}, which serves ${error.holder}`;
    return new CommandError(
      `${directory} is in use by ${who}: stop that one, or give this one its own with --data-dir DIR and --listen HOST:PORT`,
    );
  }
  if (!(error instanceof Error && 'code' in error)) return error;
  switch (error.code) {
    case 'EADDRINUSE': {
      const holder = await portHolder(port);
      return new CommandError(
        `${host}:${port} is taken by ${holder ?? 'a process that this user may not look into'}: stop that one, or choose another address with --listen HOST:PORT (port 0 takes a free one)`,
      );
    }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CommandError(`${host} is no address of this machine: choose another one with --listen HOST:PORT`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new CommandError(
        `${error.message}: choose a port from 1024 up with --listen, or a directory that this user may write with --data-dir`,
      );
    default:
      return error;
  }
}
