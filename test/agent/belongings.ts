import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { listLinks } from '../../src/linux/links.ts';
import { Netlink } from '../../src/linux/netlink/connection.ts';
import { inNetworkNamespace, networkNamespaces } from '../../src/linux/network-namespace.ts';
import { listRoutes } from '../../src/linux/routes.ts';
import type { MachineInTest } from './machine-in-test.ts';

/** What a host has in the kernel and on its disk, by kind: each thing by a name that says what it is. */
export type Belongings = Readonly<Record<string, readonly string[]>>;

/**
 * All that belongs to a host of a test at this moment, and to nobody else on the same machine. Two of these are equal when nothing
 * was left in between, and where they differ, the difference names what was.
 * @param uids of all pods that were ever on it: networks of pods bear no other name
 */
export async function belongingsOf(machine: MachineInTest, uids: ReadonlySet<string>): Promise<Belongings> {
  const processes = processesOf(machine);
  const agent = Number(readFileSync(join(machine.folder, 'run/agent.lock'), 'utf8'));
  return {
    links: inNetworkNamespace(machine.network, linkNames),
    routes: inNetworkNamespace(machine.network, routeTexts),
    nftables: await firewallOf(machine),
    networks: networkNamespaces(OF_PODS).filter((name) => uids.has(name.slice(OF_PODS.length))),
    mounts: mountsOf(machine, uids),
    groups: groupsOf(machine.name),
    processes: processes.map(commandOf).sort(),
    namespaces: [...new Set(processes.flatMap(namespacesOf))].sort(),
    // By these a namespace or a file lives on that nobody can see any more.
    'descriptors of the supervisor': descriptorsOf(machine.supervisor),
    'descriptors of the agent': descriptorsOf(agent).filter((each) => !/^(socket|pipe)$/.test(each)),
    files: ['pods', 'logs', 'containers'].flatMap((folder) => filesBelow(join(machine.folder, 'state', folder))),
    'files of this boot': filesBelow(join(machine.folder, 'run')),
  };
}

/** In sentences: what is there now and was not, and the other way round. */
export function differences(before: Belongings, now: Belongings): string[] {
  return Object.keys(now).flatMap((kind) => [
    ...without(now[kind], before[kind]).map((each) => `${kind}: ${each} was left`),
    // That nobody had asked for the end of a process yet was a matter of a moment.
    ...without(before[kind], now[kind]).flatMap((each) => (each === ENDED ? [] : `${kind}: ${each} is gone`)),
  ]);
}

/** One of the others takes away one that is equal, not all of them. */
function without(all: readonly string[] = [], others: readonly string[] = []): string[] {
  const left = [...all];
  for (const other of others) {
    const index = left.indexOf(other);
    if (index >= 0) left.splice(index, 1);
  }
  return left;
}

const OF_PODS = 'netloom-pod-';
const GROUPS = '/sys/fs/cgroup';

function linkNames(): string[] {
  using netlink = new Netlink();
  return listLinks(netlink)
    .map(({ name }) => name)
    .sort();
}

function routeTexts(): string[] {
  using netlink = new Netlink();
  const routes = ([4, 6] as const).flatMap((family) => listRoutes(netlink, { family }));
  return routes.map(({ destination, link, via }) => `${destination} by ${link} via ${via}`).sort();
}

/** Counters are no entries, and every agent has a way to the API of its own. */
async function firewallOf(machine: MachineInTest): Promise<string[]> {
  const rules = await machine.run('nft', ['--stateless', 'list', 'ruleset']);
  return rules.replaceAll(/ : 169\.254\.\d+\.\d+ \. \d+/g, ' : the agent').split('\n');
}

function mountsOf({ folder }: MachineInTest, uids: ReadonlySet<string>): string[] {
  const points = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return points
    .map((line) => line.split(' ')[4] ?? '')
    .filter((point) => point.startsWith(`${folder}/`) || uids.has(point.split(OF_PODS)[1] ?? ''))
    .sort();
}

/** In both versions: in version 1, each controller has a hierarchy of its own. */
function groupsOf(host: string): string[] {
  const roots = [GROUPS, ...namesIn(GROUPS).map((name) => join(GROUPS, name))];
  return roots.map((root) => join(root, `netloom-${host}`)).flatMap((group) => foldersBelow(group));
}

/** Whatever is in a group of the host, or was started by its supervisor or by what that has started. */
function processesOf(machine: MachineInTest): string[] {
  const all = namesIn('/proc').filter((name) => /^\d+$/.test(name));
  const parents = new Map(all.map((pid) => [pid, /^PPid:\t(\d+)$/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? '']));
  const supervisor = String(machine.supervisor);
  const isBelow = (pid: string | undefined): boolean =>
    pid !== undefined && pid !== '' && (pid === supervisor || isBelow(parents.get(pid)));
  const isInGroup = (pid: string): boolean => textOf(`/proc/${pid}/cgroup`).includes(`/netloom-${machine.name}/`);
  return all.filter((pid) => isBelow(pid) || isInGroup(pid));
}

const commandOf = (pid: string): string => textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ') || ENDED;

/** It has no command any more, until somebody asks for its end. */
const ENDED = '(ended)';

const namespacesOf = (pid: string): string[] =>
  namesIn(`/proc/${pid}/ns`).flatMap((kind) => linkText(`/proc/${pid}/ns/${kind}`));

/** Numbers of sockets and pipes are never the same twice. */
const descriptorsOf = (pid: number): string[] =>
  namesIn(`/proc/${pid}/fd`)
    .flatMap((descriptor) => linkText(`/proc/${pid}/fd/${descriptor}`))
    .map((text) => text.replace(/^(socket|pipe):.*/, '$1'))
    .sort();

const filesBelow = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))) : [];

const foldersBelow = (folder: string): string[] =>
  existsSync(folder)
    ? [
        folder,
        ...readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isDirectory())
          .map(({ parentPath, name }) => join(parentPath, name)),
      ].sort()
    : [];

/** What the kernel shows may be gone before it is looked at. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function linkText(file: string): string[] {
  try {
    return [readlinkSync(file)];
  } catch {
    return [];
  }
}
