import { command } from '../command.ts';
import { readServerOptions, serverOptions } from './options.ts';

export const engine = command({
  name: 'engine',
  summary: 'Serve the Kubernetes API alone, without any controllers',
  description:
    'A stand-in for kube-apiserver with its own store. It prints one line on standard output when it serves: `ready https://HOST:PORT`. Its log goes to standard error. SIGTERM ends it.',
  options: serverOptions,
  examples: ['netloom engine --data-dir ./data --listen 127.0.0.1:0 --kubeconfig ./kubeconfig'],
  async run({ options, terminal }) {
    const { serve } = await import('./serve.ts');
    await serve(readServerOptions(options), { terminal, runs: 'engine' });
  },
});
