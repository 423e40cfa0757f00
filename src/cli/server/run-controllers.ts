import { hostname } from 'node:os';
import { Client } from '../../runtime/client.ts';
import { Leadership } from '../../runtime/leader.ts';
import { lineLog } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { system } from '../../runtime/system.ts';
import { connect } from '../client/connection.ts';
import type { Terminal } from '../command.ts';
import type { AddressOptions } from './address-options.ts';
import { startControllers } from './controllers.ts';
import { signalled } from './signalled.ts';
import type { WorkloadOptions } from './workload-options.ts';

const LEASE = { namespace: 'kube-system', name: 'netloom-controllers' };

/** Runs until a signal ends it. */
export async function runControllers(options: {
  readonly kubeconfig: string | undefined;
  readonly leaderElect: boolean;
  readonly addresses: AddressOptions;
  readonly workloads: WorkloadOptions;
  readonly terminal: Terminal;
}): Promise<void> {
  const { addresses, workloads, terminal } = options;
  const log = lineLog({ clock: system, write: (line) => process.stderr.write(line) });
  const stopped = new AbortController();
  void signalled(log).then(() => stopped.abort());
  const { transport } = await connect({ kubeconfig: options.kubeconfig, namespace: undefined });

  const work = async (signal: AbortSignal): Promise<void> => {
    const controllers = await startControllers({ transport, log, metrics: new Metrics(), addresses, workloads });
    terminal.print(`ready ${controllers.names.join(' ')}`);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await controllers.stop();
  };
  if (!options.leaderElect) return work(stopped.signal);

  const leadership = new Leadership({
    client: new Client({ transport, fieldManager: 'netloom' }),
    lease: LEASE,
    identity: `${hostname()}_${system.uuid()}`,
    system,
    log,
  });
  await leadership.run(work, stopped.signal);
}
