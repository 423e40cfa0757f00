import { command } from '../command.ts';
import { addressOptions, readAddressOptions } from './address-options.ts';
import { readServerOptions, serverOptions } from './options.ts';
import { ownHostOptions, readOwnHostOptions } from './own-host-options.ts';
import { evictionOption, readWorkloadOptions, workloadOptions } from './workload-options.ts';

export const up = command({
  name: 'up',
  summary: 'Run all of Netloom on this machine, in one process',
  description:
    'Starts the engine, every controller and, as root, the agent of this machine, and says how to reach them. The agent touches nothing of the machine before pods or Services ask for it; pods run on when Netloom is stopped. Its log goes to standard error. Ctrl-C or SIGTERM ends it; what was stored is there again at the next start.',
  options: {
    ...serverOptions,
    ...addressOptions,
    ...workloadOptions('on'),
    ...evictionOption,
    ...ownHostOptions,
  },
  examples: [
    'netloom up',
    'netloom up --listen 127.0.0.1:0 --data-dir ./data',
    'netloom up --cool-down 10m --nearly-full 90',
  ],
  async run({ options, terminal }) {
    const { serve } = await import('./serve.ts');
    const server = readServerOptions(options);
    await serve(server, {
      terminal,
      runs: 'everything',
      addresses: readAddressOptions(options),
      workloads: readWorkloadOptions(options, server.services.networks),
      evictAfterSeconds: options['evict-after'],
      ownHost: readOwnHostOptions(options),
    });
  },
});
