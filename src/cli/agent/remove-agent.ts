import { removeHost } from '../../agent/remove-host.ts';
import { Node } from '../../api/core/node.ts';
import { Client } from '../../runtime/client.ts';
import { lineLog } from '../../runtime/log.ts';
import { system } from '../../runtime/system.ts';
import { connect } from '../client/connection.ts';
import type { Terminal } from '../command.ts';
import { type AgentCommandOptions, readHostOptions, requireRoot, takeHost } from './host-options.ts';

/** Leaves nothing of a host. */
export async function removeAgent(options: AgentCommandOptions, terminal: Terminal): Promise<void> {
  const host = readHostOptions(options);
  requireRoot();
  const log = lineLog({ clock: system, write: (line) => process.stderr.write(line) }, { host: host.name });
  const lock = await takeHost(host);
  try {
    await removeHost({ ...host, system, log });
  } finally {
    lock.release();
  }
  terminal.print(`nothing of host ${host.name} is left on this machine`);
  try {
    const { transport } = await connect({ kubeconfig: options.kubeconfig, namespace: undefined });
    const client = new Client({ transport, fieldManager: 'netloom-agent' });
    const isGone = await client.delete(Node, { namespace: '', name: host.name });
    transport.close();
    terminal.print(isGone ? `its Node ${host.name} is deleted` : `there was no Node ${host.name}`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    terminal.warn(`its Node could not be deleted (${why}): kubectl delete node ${host.name} does it`);
  }
}
