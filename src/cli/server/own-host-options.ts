import { dnsSubdomainFaults } from '../../api/syntax.ts';
import { UsageError } from '../command.ts';

/** Whether this machine is a host of its own cluster. */
export const ownHostOptions = {
  agent: {
    type: 'string',
    choices: ['on', 'off'],
    default: 'on',
    description: 'run pods on this machine, which takes root; without it everything else works',
  },
  host: {
    type: 'string',
    placeholder: 'NAME',
    description: 'the name of this machine among the nodes (default: its host name)',
  },
} as const;

/** Undefined where this machine is to run nothing. */
export interface OwnHostWishes {
  readonly name: string | undefined;
  readonly serviceCidr: string;
  readonly podCidr: string;
}

export function readOwnHostOptions(options: {
  readonly agent: 'on' | 'off';
  readonly host: string | undefined;
  readonly 'service-cidr': string;
  readonly 'pod-cidr': string;
}): OwnHostWishes | undefined {
  const { host } = options;
  // It becomes part of the names of folders.
  const [fault] = host === undefined ? [] : dnsSubdomainFaults(host);
  if (fault !== undefined) throw new UsageError(`"${host}" cannot be the name of a host: ${fault}`);
  return options.agent === 'off'
    ? undefined
    : { name: host, serviceCidr: options['service-cidr'], podCidr: options['pod-cidr'] };
}
