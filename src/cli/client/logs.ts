import { command } from '../command.ts';
import { connectionOptions } from './connection.ts';
import { containerOption, podArgument } from './pod-options.ts';

export const logs = command({
  name: 'logs',
  summary: 'Print what a container has written',
  arguments: { pod: podArgument },
  options: {
    container: containerOption,
    follow: { type: 'boolean', short: 'f', description: 'go on as it writes, until it ends' },
    previous: { type: 'boolean', short: 'p', description: 'of the time before it was last started anew' },
    tail: { type: 'integer', minimum: 0, placeholder: 'LINES', description: 'only so many of the last lines' },
    since: { type: 'string', placeholder: 'TIME', description: 'only what is younger, such as 90s, 10m or 24h' },
    timestamps: { type: 'boolean', description: 'say when each line was written' },
    ...connectionOptions,
  },
  examples: ['netloom logs web', 'netloom logs web -c proxy --follow --tail 20'],
  async run({ arguments: { pod }, options }) {
    const { printLogs } = await import('./run-logs.ts');
    await printLogs(pod, options);
  },
});
