import { execFileSync } from 'node:child_process';
import { rmdirSync } from 'node:fs';
import type { Computer } from './computer.ts';

/** Lines, by what they are about. */
export type View = Readonly<Record<string, readonly string[]>>;

/** What there is on a computer, to the last file; two views are the same when nothing has come or gone between them. */
export async function everythingOn(computer: Computer): Promise<View> {
  const [processes, mounts, files, links, network] = await Promise.all([
    linesOf(computer, 'ps -eo args --no-headers'),
    linesOf(computer, 'cat /proc/self/mounts'),
    linesOf(computer, 'find /run /var/lib/netloom'),
    linesOf(computer, 'ip -o link'),
    networkOf(computer),
  ]);
  return {
    // Those that look, and those that have ended and wait to be buried.
    processes: processes.filter((line) => !/^(nsenter|ps|cat|find|ip|nft|sysctl) |^\[/.test(line)),
    mounts,
    files,
    links: links.map((line) => line.split(/[:@]/)[1]?.trim() ?? ''),
    cgroups: cgroupsNamed(computer.name),
    ...network,
  };
}

/** What has come (`+`) and gone (`-`). */
export function differences(was: View, is: View): string[] {
  return Object.entries(is).flatMap(([what, lines]) => {
    const before = was[what] ?? [];
    return [
      ...before.filter((line) => !lines.includes(line)).map((line) => `- ${what}: ${line}`),
      ...lines.filter((line) => !before.includes(line)).map((line) => `+ ${what}: ${line}`),
    ];
  });
}

/** How the network is set up, and what the kernel is told to do with it. */
export async function networkOf(computer: Computer): Promise<View> {
  const asked = {
    addresses: 'ip -o address',
    routes: 'ip route show table all',
    routes6: 'ip -6 route show table all',
    rules: 'ip rule',
    rules6: 'ip -6 rule',
    firewall: 'nft list ruleset',
    settings: 'sysctl -a --pattern ^net[.]',
  };
  const answers = Object.entries(asked).map(async ([name, words]) => [name, await linesOf(computer, words)] as const);
  const found = Object.fromEntries(await Promise.all(answers));
  // It counts what passes.
  return {
    ...found,
    settings: (found['settings'] ?? []).filter((line) => !/nf_conntrack_count|\.stat_refresh/.test(line)),
  };
}

async function linesOf(computer: Computer, words: string): Promise<string[]> {
  const { stdout } = await computer.attempt(words);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

/** They are the machine's, for all computers on it: those of one are known by its name. */
export function cgroupsNamed(name: string): string[] {
  const found = execFileSync('find', ['/sys/fs/cgroup', '-type', 'd', '-path', `*${name}*`, '-print'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return found.split('\n').filter((line) => line !== '');
}

export function removeCgroups(name: string): void {
  for (const group of cgroupsNamed(name).sort().reverse()) rmdirSync(group);
}
