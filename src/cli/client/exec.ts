import { command } from '../command.ts';
import { connectionOptions } from './connection.ts';
import { containerOption, podArgument } from './pod-options.ts';

export const exec = command({
  name: 'exec',
  summary: 'Run a command in a container',
  description: 'It ends with the exit code of the command.',
  arguments: {
    pod: podArgument,
    command: { description: 'what to run, after --', repeated: true },
  },
  options: {
    container: containerOption,
    stdin: { type: 'boolean', short: 'i', description: 'hand on what comes on standard input' },
    tty: { type: 'boolean', short: 't', description: 'with a terminal' },
    ...connectionOptions,
  },
  examples: [
    'netloom exec web -- ip address',
    'netloom exec -it web -- sh',
    'netloom exec -i web -- tar xf - <files.tar',
  ],
  async run({ arguments: { pod, command: words }, options }) {
    const { execute } = await import('./run-exec.ts');
    return execute(pod, words, options);
  },
});
