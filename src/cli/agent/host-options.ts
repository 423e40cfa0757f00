import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { Address } from '../../api/address.ts';
import { Prefix } from '../../api/prefix.ts';
import { parseQuantity } from '../../api/quantity.ts';
import { dnsSubdomainFaults, labelValueFaults, qualifiedNameFaults } from '../../api/syntax.ts';
import { type FileLock, lockFile } from '../../linux/file-lock.ts';
import { CommandError, UsageError } from '../command.ts';
import { ownAddresses } from './own-address.ts';
import { isInProgram } from './program-folder.ts';

export interface AgentCommandOptions {
  readonly name: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly 'node-ip': readonly string[];
  readonly 'underlay-address': readonly string[];
  readonly 'state-dir': string | undefined;
  readonly 'run-dir': string | undefined;
  readonly listen: number;
  readonly label: readonly string[];
  readonly resource: readonly string[];
  readonly cgroup: string | undefined;
  readonly 'service-cidr': string;
  readonly 'pod-cidr': string;
  readonly hide: readonly string[];
}

export type HostOptions = ReturnType<typeof readHostOptions>;

export function readHostOptions(options: AgentCommandOptions) {
  const name = options.name ?? hostname().toLowerCase();
  const [fault] = dnsSubdomainFaults(name);
  if (fault !== undefined) throw new UsageError(`"${name}" cannot be the name of a host: ${fault}`);
  const given = [...options['node-ip'], ...options['underlay-address']];
  const odd = given.find((address) => Address.parse(address) === undefined);
  if (odd !== undefined) throw new UsageError(`"${odd}" is no address`);
  const hidden = options.hide.map((folder) => resolve(folder));
  const stateDirectory = resolve(options['state-dir'] ?? `/var/lib/netloom/hosts/${name}`);
  const runDirectory = resolve(options['run-dir'] ?? `/run/netloom/hosts/${name}`);
  const seen = [stateDirectory, runDirectory, ...hidden].find(isInProgram);
  if (seen !== undefined) {
    throw new UsageError(`${seen} is in the folder of Netloom itself, which every pod sees: it has to be elsewhere`);
  }
  return {
    name,
    addresses: options['node-ip'].length > 0 ? options['node-ip'] : ownAddresses(options['pod-cidr']),
    underlayAddresses: options['underlay-address'],
    port: options.listen,
    serviceCidrs: readNetworks(options['service-cidr'], '--service-cidr'),
    podCidrs: readNetworks(options['pod-cidr'], '--pod-cidr'),
    labels: Object.fromEntries(options.label.map(readLabel)),
    resources: Object.fromEntries(options.resource.map(readResource)),
    cgroup: readCgroup(options.cgroup ?? `netloom-${name}`),
    stateDirectory,
    runDirectory,
    hidden,
  };
}

function readNetworks(text: string, option: string): string[] {
  return text.split(',').map((part) => {
    const network = Prefix.parse(part.trim());
    if (network === undefined) throw new UsageError(`${option} takes networks such as 10.96.0.0/16, not "${text}"`);
    return `${network}`;
  });
}

function readLabel(text: string): [string, string] {
  const at = text.indexOf('=');
  const [key, value] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
  const [fault] = [...qualifiedNameFaults(key), ...labelValueFaults(value)];
  if (fault !== undefined) throw new UsageError(`--label takes KEY=VALUE, not "${text}": ${fault}`);
  return [key, value];
}

function readResource(text: string): [string, string] {
  const [, name = '', amount = ''] = /^([^=]*)=(.*)$/.exec(text) ?? [];
  const isAmount = (parseQuantity(amount)?.nanos ?? 0n) > 0n;
  const [fault] = [...qualifiedNameFaults(name), ...(isAmount ? [] : [`"${amount}" is no amount of it`])];
  if (fault !== undefined) throw new UsageError(`--resource takes NAME=AMOUNT, not "${text}": ${fault}`);
  return [name, amount];
}

/** By their names those of Netloom are known from others. */
function readCgroup(name: string): string {
  if (/^netloom-[a-z0-9.-]+$/.test(name)) return name;
  throw new UsageError(
    `"${name}" cannot be the group of a host: it begins with netloom-, and has small letters, digits, dots and dashes`,
  );
}

export function requireRoot(): void {
  if (process.getuid?.() === 0) return;
  throw new CommandError('netloom agent needs root: it makes network namespaces, links and routes');
}

/** One agent a host: two would fight over its pods. */
export async function takeHost({ name, stateDirectory, runDirectory }: HostOptions): Promise<FileLock> {
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  await mkdir(runDirectory, { recursive: true, mode: 0o700 });
  const lock = lockFile(`${runDirectory}/agent.lock`);
  if ('release' in lock) return lock;
  const who = lock.heldBy === undefined ? 'another process' : `process ${lock.heldBy}`;
  throw new CommandError(
    `the agent of host ${name} runs already, as ${who}: stop that one, or give this one another --name, and its own --run-dir and --state-dir`,
  );
}
