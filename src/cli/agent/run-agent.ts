import { flushCompileCache } from 'node:module';
import { startAgent } from '../../agent/agent.ts';
import { enrol, lifeLeft, nodeUser } from '../../agent/enrol.ts';
import { holderOf, IdentityFiles } from '../../agent/identity-files.ts';
import { Client } from '../../runtime/client.ts';
import { HttpTransport } from '../../runtime/http-transport.ts';
import { type Connection, readKubeconfig } from '../../runtime/kubeconfig.ts';
import { lineLog } from '../../runtime/log.ts';
import { system } from '../../runtime/system.ts';
import { kubeconfigFile } from '../client/connection.ts';
import { CommandError, type Terminal } from '../command.ts';
import { signalled } from '../server/signalled.ts';
import { type AgentCommandOptions, type HostOptions, readHostOptions, requireRoot, takeHost } from './host-options.ts';

/** Runs until a signal ends it. */
export async function runAgent(options: AgentCommandOptions, terminal: Terminal): Promise<void> {
  const host = readHostOptions(options);
  requireRoot();
  const log = lineLog({ clock: system, write: (line) => process.stderr.write(line) }, { host: host.name });
  const stopped = Promise.race([signalled(log), startedByNobody()]);
  const lock = await takeHost(host);
  try {
    const connection = await ownConnection(host, options.kubeconfig);
    const agent = await startAgent({ ...host, connection, system, log });
    void agent.registered.then(() => {
      terminal.print(`ready ${host.name}`);
      // Not only at the end, which may be a long way off: the next one starts in half the memory.
      flushCompileCache();
    });
    await stopped;
    await agent.stop();
  } finally {
    lock.release();
  }
}

/** Resolves when the process that has started this one and keeps it is gone. */
async function startedByNobody(): Promise<void> {
  await new Promise<void>((resolve) => {
    if (process.channel !== undefined) process.once('disconnect', resolve);
  });
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
