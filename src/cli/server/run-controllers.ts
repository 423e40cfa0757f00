import { hostname } from 'node:os';
import { Client } from '../../runtime/client.ts';
import { Leadership } from '../../runtime/leader.ts';
import { lineLog } from '../../runtime/log.ts';
import { type Metric, Metrics, single } from '../../runtime/metrics.ts';
import { system } from '../../runtime/system.ts';
import { connect } from '../client/connection.ts';
import type { Terminal } from '../command.ts';
import { listening } from '../listening.ts';
import type { AddressOptions } from './address-options.ts';
import { startControllers } from './controllers.ts';
import { LEASE } from './controllers-lease.ts';
import { readEndpoint } from './endpoint.ts';
import { signalled } from './signalled.ts';
import type { WorkloadOptions } from './workload-options.ts';

/** Runs until a signal ends it. */
export async function runControllers(options: {
  readonly kubeconfig: string | undefined;
  readonly leaderElect: boolean;
  /** Where it is told what is measured; nowhere when undefined. */
  readonly metrics: string | undefined;
  readonly addresses: AddressOptions;
  readonly workloads: WorkloadOptions;
  readonly terminal: Terminal;
}): Promise<void> {
  const { addresses, workloads, terminal } = options;
  const log = lineLog({ clock: system, write: (line) => process.stderr.write(line) });
  const stopped = new AbortController();
  void signalled(log).then(() => stopped.abort());
  const { transport } = await connect({ kubeconfig: options.kubeconfig, namespace: undefined });
  /** Of the controllers at work; undefined while another process works. */
  let measured: Metrics | undefined;
  const server = await metricsServer(options.metrics, () => [atWork(measured), ...(measured?.read() ?? [])]);
  if (server !== undefined) terminal.print(`metrics ${server.url}/metrics`);

  const work = async (signal: AbortSignal): Promise<void> => {
    const metrics = new Metrics();
    const controllers = await startControllers({ transport, log, metrics, addresses, workloads });
    measured = metrics;
    terminal.print(`ready ${controllers.names.join(' ')}`);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    measured = undefined;
    await controllers.stop();
  };
  try {
    if (!options.leaderElect) return await work(stopped.signal);
    const leadership = new Leadership({
      client: new Client({ transport, fieldManager: 'netloom' }),
      lease: LEASE,
      identity: `${hostname()}_${system.uuid()}`,
      system,
      log,
    });
    await leadership.run(work, stopped.signal);
  } finally {
    await server?.stop();
  }
}

async function metricsServer(text: string | undefined, measured: () => readonly Metric[]) {
  if (text === undefined) return undefined;
  const endpoint = readEndpoint(text, '--metrics');
  const { MetricsServer } = await import('./metrics-server.ts');
  return listening('metrics', text, () => MetricsServer.start(endpoint, measured));
}

const atWork = (measured: Metrics | undefined): Metric => ({
  name: 'netloom_controllers_at_work',
  type: 'gauge',
  help: 'Whether the controllers of this process act; 0 while they stand by for another process.',
  samples: single(measured === undefined ? 0 : 1),
});
