import { command } from '../command.ts';
import { connectionOptions } from './connection.ts';

export const apply = command({
  name: 'apply',
  summary: 'Create objects, or change them to what files say',
  description:
    'Applies on the server: fields that others have set stay theirs. Where another one has set a field to something else, apply says who and stops, unless --force.',
  options: {
    ...connectionOptions,
    filename: {
      type: 'string',
      short: 'f',
      placeholder: 'PATH',
      repeated: true,
      description: 'a file, a folder, or - for standard input',
    },
    force: { type: 'boolean', description: 'take over fields that others have set' },
    'dry-run': { type: 'boolean', description: 'have the server check everything and store nothing' },
  },
  examples: ['netloom apply -f examples/ipam/', 'cat network.yaml | netloom apply -f -'],
  async run({ options, terminal }) {
    const { applyManifests } = await import('./run-apply.ts');
    return applyManifests(options, terminal);
  },
});
