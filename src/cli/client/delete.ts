import { command } from '../command.ts';
import { connectionOptions } from './connection.ts';

export const remove = command({
  name: 'delete',
  summary: 'Delete objects, by name or as files list them',
  arguments: {
    resource: { description: 'plural, singular or short name; or KIND/NAME', optional: true },
    names: { description: 'which ones', optional: true, repeated: true },
  },
  options: {
    ...connectionOptions,
    filename: {
      type: 'string',
      short: 'f',
      placeholder: 'PATH',
      repeated: true,
      description: 'a file, a folder, or - for standard input; deleted from the last object to the first',
    },
    'no-wait': { type: 'boolean', description: 'return before the objects are gone' },
    'ignore-not-found': { type: 'boolean', description: 'what is not there counts as deleted' },
  },
  examples: ['netloom delete ipset edpm-compute-0', 'netloom delete -f examples/ipam/'],
  async run({ arguments: { resource, names }, options, terminal }) {
    const { deleteObjects } = await import('./run-delete.ts');
    return deleteObjects({ resource, names }, options, terminal);
  },
});
