import { connectionOptions } from '../client/connection.ts';
import { command } from '../command.ts';
import { addressOptions, readAddressOptions } from './address-options.ts';
import { readWorkloadOptions, workloadOptions } from './workload-options.ts';

export const controllers = command({
  name: 'controllers',
  summary: 'Run the controllers against any API server',
  description:
    'What netloom up runs beside its engine, for an API server that runs already. It prints one line on standard output when it is at work: `ready` and what runs. With --leader-elect several of them may run; one works, the others stand by. With --metrics it serves /metrics, as Prometheus reads it, and /healthz, which answers as long as the process lives, and prints the address of the first before anything else: `metrics URL`. Whoever reaches that address may read it, so choose one that only you reach. Its log goes to standard error. SIGTERM ends it.',
  options: {
    kubeconfig: connectionOptions.kubeconfig,
    'leader-elect': {
      type: 'boolean',
      description: 'work only while holding the Lease kube-system/netloom-controllers',
    },
    metrics: {
      type: 'string',
      placeholder: 'HOST:PORT',
      description: 'where to serve /metrics and /healthz, by plain HTTP; port 0 takes a free one (default: nowhere)',
    },
    ...addressOptions,
    ...workloadOptions('off'),
  },
  examples: [
    'netloom controllers --kubeconfig ~/.kube/config --leader-elect',
    'netloom controllers --kubeconfig FILE --pods on --services on',
    'netloom controllers --metrics 127.0.0.1:9120',
  ],
  async run({ options, terminal }) {
    const { runControllers } = await import('./run-controllers.ts');
    await runControllers({
      kubeconfig: options.kubeconfig,
      leaderElect: options['leader-elect'],
      metrics: options.metrics,
      addresses: readAddressOptions(options),
      workloads: readWorkloadOptions(options),
      terminal,
    });
  },
});
