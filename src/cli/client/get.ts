import { command } from '../command.ts';
import { connectionOptions } from './connection.ts';

export const get = command({
  name: 'get',
  summary: 'List objects, or show some of them',
  arguments: {
    resource: { description: 'plural, singular, short name or category, several with commas; or KIND/NAME' },
    names: { description: 'only these', optional: true, repeated: true },
  },
  options: {
    ...connectionOptions,
    'all-namespaces': { type: 'boolean', short: 'A', description: 'objects of every namespace' },
    selector: {
      type: 'string',
      short: 'l',
      placeholder: 'LABELS',
      description: 'only objects with these labels: app=web,tier!=test',
    },
    output: {
      type: 'string',
      short: 'o',
      choices: ['wide', 'yaml', 'json', 'name'],
      description: 'the form to show them in',
    },
    watch: { type: 'boolean', short: 'w', description: 'go on and show every change' },
  },
  examples: ['netloom get netconfigs', 'netloom get ipset edpm-compute-0 -o yaml', 'netloom get ipsets -A -w'],
  async run({ arguments: { resource, names }, options, terminal }) {
    const { getObjects } = await import('./run-get.ts');
    return getObjects({ resource, names }, options, terminal);
  },
});
