import { command } from '../command.ts';
import { connectionOptions } from './connection.ts';

export const describe = command({
  name: 'describe',
  summary: 'Show an object with its conditions and what happened to it',
  arguments: {
    resource: { description: 'plural, singular or short name; or KIND/NAME' },
    names: { description: 'which ones; all when there are none', optional: true, repeated: true },
  },
  options: connectionOptions,
  examples: ['netloom describe ipset edpm-compute-0'],
  async run({ arguments: { resource, names }, options, terminal }) {
    const { describeObjects } = await import('./run-describe.ts');
    return describeObjects({ resource, names }, options, terminal);
  },
});
