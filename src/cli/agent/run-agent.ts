import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { startAgent } from '../../agent/agent.ts';
import { enrol, lifeLeft, nodeUser } from '../../agent/enrol.ts';
import { holderOf, IdentityFiles } from '../../agent/identity-files.ts';
import { Address } from '../../api/address.ts';
import { dnsSubdomainFaults, labelValueFaults, qualifiedNameFaults } from '../../api/syntax.ts';
import { type FileLock, lockFile } from '../../linux/file-lock.ts';
import { Client } from '../../runtime/client.ts';
import { HttpTransport } from '../../runtime/http-transport.ts';
import { type Connection, readKubeconfig } from '../../runtime/kubeconfig.ts';
import { lineLog } from '../../runtime/log.ts';
import { system } from '../../runtime/system.ts';
import { kubeconfigFile } from '../client/connection.ts';
import { CommandError, type Terminal, UsageError } from '../command.ts';
import { signalled } from '../server/signalled.ts';
import { ownAddress } from './own-address.ts';

export interface AgentCommandOptions {
  readonly name: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly 'node-ip': readonly string[];
  readonly 'underlay-address': string | undefined;
  readonly 'state-dir': string | undefined;
  readonly 'run-dir': string | undefined;
  readonly listen: number;
  readonly label: readonly string[];
}

/** Runs until a signal ends it. */
export async function runAgent(options: AgentCommandOptions, terminal: Terminal): Promise<void> {
  const host = readOptions(options);
  if (process.getuid?.() !== 0) {
    throw new CommandError('netloom agent needs root: it makes network namespaces, links and routes');
  }
  const log = lineLog({ clock: system, write: (line) => process.stderr.write(line) }, { host: host.name });
  const stopped = signalled(log);
  const lock = await takeHost(host);
  try {
    const connection = await ownConnection(host, options.kubeconfig);
    const agent = await startAgent({ ...host, connection, system, log });
    void agent.registered.then(() => terminal.print(`ready ${host.name}`));
    await stopped;
    await agent.stop();
  } finally {
    lock.release();
  }
}

type HostOptions = ReturnType<typeof readOptions>;

function readOptions(options: AgentCommandOptions) {
  const name = options.name ?? hostname().toLowerCase();
  const [fault] = dnsSubdomainFaults(name);
  if (fault !== undefined) throw new UsageError(`"${name}" cannot be the name of a host: ${fault}`);
  const given = [...options['node-ip'], options['underlay-address']].filter((each) => each !== undefined);
  const odd = given.find((address) => Address.parse(address) === undefined);
  if (odd !== undefined) throw new UsageError(`"${odd}" is no address`);
  return {
    name,
    addresses: options['node-ip'].length > 0 ? options['node-ip'] : [ownAddress()],
    underlayAddress: options['underlay-address'],
    port: options.listen,
    labels: Object.fromEntries(options.label.map(readLabel)),
    stateDirectory: resolve(options['state-dir'] ?? `/var/lib/netloom/hosts/${name}`),
    runDirectory: resolve(options['run-dir'] ?? `/run/netloom/hosts/${name}`),
  };
}

function readLabel(text: string): [string, string] {
  const at = text.indexOf('=');
  const [key, value] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
  const [fault] = [...qualifiedNameFaults(key), ...labelValueFaults(value)];
  if (fault !== undefined) throw new UsageError(`--label takes KEY=VALUE, not "${text}": ${fault}`);
  return [key, value];
}

/** One agent a host: two would fight over its pods. */
async function takeHost({ name, stateDirectory, runDirectory }: HostOptions): Promise<FileLock> {
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  await mkdir(runDirectory, { recursive: true, mode: 0o700 });
  const lock = lockFile(`${runDirectory}/agent.lock`);
  if ('release' in lock) return lock;
  const who = lock.heldBy === undefined ? 'another process' : `process ${lock.heldBy}`;
  throw new CommandError(
    `the agent of host ${name} runs already, as ${who}: stop that one, or give this one another --name, and its own --run-dir and --state-dir`,
  );
}

/** As the host itself: by what it was enrolled with before, or by enrolling it now with what the kubeconfig allows. */
async function ownConnection(host: HostOptions, kubeconfig: string | undefined): Promise<Connection> {
  const { name, stateDirectory, addresses } = host;
  const files = new IdentityFiles(stateDirectory);
  const there = await files.read('client');
  const holder = there === undefined ? undefined : holderOf(there.certificate);
  const isKnown = holder?.user === nodeUser(name) && lifeLeft(holder, system.now()) > 0;
  if (kubeconfig === undefined && isKnown) return readKubeconfig(files.kubeconfig);

  const given = await readKubeconfig(kubeconfigFile(kubeconfig)).catch((error: unknown) => {
    const past =
      holder === undefined ? '' : ` (what host ${name} was enrolled with ended ${holder.until.toISOString()})`;
    throw new CommandError(`${error instanceof Error ? error.message : String(error)}${past}`);
  });
  if (given.clientCert !== undefined && holderOf(given.clientCert)?.user === nodeUser(name)) return given;
  const { server, serverName, ca, insecure } = given;
  const way = {
    ...{ server, insecure },
    ...(serverName === undefined ? {} : { serverName }),
    ...(ca === undefined ? {} : { ca }),
  };
  const transport = new HttpTransport({ connection: given, system, userAgent: 'netloom-agent' });
  try {
    const client = new Client({ transport, fieldManager: 'netloom-agent' });
    await enrol({ client, way, name, addresses, stateDirectory, system });
  } catch (error) {
    throw new CommandError(
      `host ${name} could not be enrolled: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    transport.close();
  }
  return readKubeconfig(files.kubeconfig);
}
