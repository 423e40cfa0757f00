import { connectionOptions } from '../client/connection.ts';
import { command } from '../command.ts';

export const output = {
  type: 'string',
  short: 'o',
  choices: ['json'],
  description: 'the same for programs',
} as const;

export const who = command({
  name: 'who',
  summary: 'Say who has an address, or which addresses somebody has',
  description:
    'Answers from the ledger of addresses, and where that knows nobody from what pods, Services and nodes say, for every namespace unless one is named. Of an address that nobody has it says where it lies and whether it could be given. Exits with 0 when somebody has it, with 1 when nobody does, and with 2 when that could not be found out.',
  arguments: { subject: { description: 'an address, a prefix, a name, or KIND/NAME' } },
  options: {
    ...connectionOptions,
    namespace: { ...connectionOptions.namespace, description: 'look in this namespace only' },
    output,
  },
  examples: [
    'netloom who 172.17.0.80',
    'netloom who 172.17.0.0/28',
    'netloom who edpm-compute-0',
    'netloom who service/keystone-public -n openstack -o json',
  ],
  async run({ arguments: { subject }, options, terminal }) {
    const { answerWho } = await import('./run-who.ts');
    return answerWho(subject, options, terminal);
  },
});
