import { connectionOptions } from '../client/connection.ts';
import { command } from '../command.ts';
import { output } from './who.ts';

export const explain = command({
  name: 'explain',
  summary: 'Say why an object is not Ready, and what would unblock it',
  description:
    'Follows the chain from the object to what keeps it from being Ready: its networks, who has the addresses it asks for, and what those wait for; of what runs, its pods, their containers and nodes; of a Service, its pools and who answers for it. Of kinds that it knows nothing more of, it tells conditions, owners and Events. Changes nothing. Exits with 0 when the object is Ready (or has no readiness of its own, and nothing is wrong with it), with 1 when it is not or does not exist, and with 2 when that could not be found out.',
  arguments: {
    object: { description: 'KIND/NAME' },
    name: { description: 'its name, where KIND alone stands before', optional: true },
  },
  options: { ...connectionOptions, output },
  examples: [
    'netloom explain ipset/edpm-compute-0',
    'netloom explain deployment/web',
    'netloom explain netconfig netconfig -n openstack -o json',
  ],
  async run({ arguments: { object, name }, options, terminal }) {
    const { answerExplain } = await import('./run-explain.ts');
    return answerExplain(name === undefined ? object : `${object}/${name}`, options, terminal);
  },
});
