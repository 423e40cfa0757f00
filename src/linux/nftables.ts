import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Json, JsonObject } from '../api/json.ts';
import { inNetworkNamespace } from './network-namespace.ts';

/**
 * Applies commands of nftables in one transaction: all of them or none.
 * @param commands as `nft -j` takes them, e.g. `{ add: { table: { family: 'inet', name: 'netloom-x' } } }`
 */
export async function changeFirewall(commands: readonly JsonObject[], namespace?: string): Promise<void> {
  await nft(['-f', '-'], { namespace, input: JSON.stringify({ nftables: commands }) });
}

/** A table with all that is in it, as `nft -j` writes it; undefined when there is none of that name. */
export async function readFirewallTable(family: string, name: string, namespace?: string): Promise<Json[] | undefined> {
  const tables = listed(await nft(['list', 'tables'], { namespace }));
  const found = tables.some((entry) => {
    const table = (entry as { table?: { family?: string; name?: string } }).table;
    return table?.family === family && table.name === name;
  });
  return found ? listed(await nft(['list', 'table', family, name], { namespace })) : undefined;
}

const listed = (output: string): Json[] => (JSON.parse(output) as { nftables: Json[] }).nftables;

async function nft(words: string[], { namespace, input = '' }: { namespace: string | undefined; input?: string }) {
  // nft opens its input by name, which does not work with the sockets that Node.js connects children by; with a pipe it does.
  // A child starts where this process is at that moment, so it needs no help to enter the namespace.
  const start = () => spawn('sh', ['-c', 'cat | exec nft -j "$@"', 'nft', ...words]);
  const child = namespace === undefined ? start() : inNetworkNamespace(namespace, start);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [output, complaint, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`nft ${words.join(' ')}: ${complaint.trim() || `it ended with ${code}`}`);
  return output;
}
