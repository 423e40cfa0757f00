import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** What a group of processes may use together; what is left out is not limited. */
export interface CgroupLimits {
  readonly memoryBytes?: number;
  readonly processes?: number;
  /** Thousandths of a processor. */
  readonly cpuMillis?: number;
}

interface Hierarchy {
  readonly folder: string;
  readonly version: 1 | 2;
  readonly controllers: ReadonlySet<string>;
}

/**
 * Groups of processes, the same for both versions of cgroups: a group is a path such as `netloom-a/UID/ID`, which is a folder in
 * each hierarchy that limits something of what we limit.
 */
export class Cgroups {
  readonly #hierarchies: readonly Hierarchy[];

  constructor(hierarchies: readonly Hierarchy[] = mountedHierarchies()) {
    this.#hierarchies = hierarchies;
  }

  /** Which version has the limits. */
  get version(): 1 | 2 {
    return this.#hierarchies.some(({ version }) => version === 1) ? 1 : 2;
  }

  /** With all that is above it. What is there already stays as it is. */
  make(group: string): void {
    for (const { folder, version } of this.#hierarchies) {
      const parts = group.split('/');
      // In version 2 a group hands the controllers on to those below it, which have the processes.
      parts.forEach((_, depth) => {
        if (version === 2) handOn(path.join(folder, ...parts.slice(0, depth)));
        mkdirSync(path.join(folder, ...parts.slice(0, depth + 1)), { recursive: true });
      });
    }
  }

  limit(group: string, { memoryBytes, processes, cpuMillis }: CgroupLimits): void {
    if (memoryBytes !== undefined) {
      const { folder, version } = this.#controlling('memory', group);
      if (version === 2) {
        write(folder, 'memory.max', memoryBytes);
        if (existsSync(path.join(folder, 'memory.swap.max'))) write(folder, 'memory.swap.max', 0);
        // Half a container is worse than none: it ends as a whole, and is started again.
        write(folder, 'memory.oom.group', 1);
      } else {
        write(folder, 'memory.limit_in_bytes', memoryBytes);
        // Memory and swap together: there are kernels that do not count swap.
        if (existsSync(path.join(folder, 'memory.memsw.limit_in_bytes')))
          write(folder, 'memory.memsw.limit_in_bytes', memoryBytes);
      }
    }
    if (processes !== undefined) write(this.#controlling('pids', group).folder, 'pids.max', processes);
    if (cpuMillis !== undefined) {
      const { folder, version } = this.#controlling('cpu', group);
      // The kernel takes no quota below a millisecond.
      const quota = Math.max(1_000, Math.round((cpuMillis * CPU_PERIOD) / 1_000));
      if (version === 2) write(folder, 'cpu.max', `${quota} ${CPU_PERIOD}`);
      else {
        write(folder, 'cpu.cfs_period_us', CPU_PERIOD);
        write(folder, 'cpu.cfs_quota_us', quota);
      }
    }
  }

  /**
   * A group inside another that has processes of its own: it limits nothing further, but its processes can be told apart. One
   * hierarchy is enough for that.
   */
  makePart(group: string, part: string): void {
    const { folder } = this.#controlling('pids', group);
    mkdirSync(path.join(folder, part), { recursive: true });
  }

  /** Files: a process that writes 0 to each of them is in the group, and in a part of it. */
  joins(group: string, part = ''): string[] {
    return this.#hierarchies.map(({ folder, controllers }) =>
      path.join(folder, group, controllers.has('pids') ? part : '', 'cgroup.procs'),
    );
  }

  /** How often the kernel has ended a process of the group because there was no memory left for it. */
  outOfMemoryKills(group: string): number {
    const { folder, version } = this.#controlling('memory', group);
    const text = read(folder, version === 2 ? 'memory.events' : 'memory.oom_control');
    return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  /** Processes of the group and of those below it. */
  processes(group: string): number[] {
    const pids = this.#hierarchies.flatMap(({ folder }) =>
      groupsBelow(path.join(folder, group)).flatMap((each) => read(each, 'cgroup.procs').split('\n')),
    );
    return [...new Set(pids.filter((pid) => pid !== '' && pid !== '0').map(Number))];
  }

  /** The names of the groups right below. */
  below(group: string): string[] {
    return [...new Set(this.#hierarchies.flatMap(({ folder }) => children(path.join(folder, group))))];
  }

  /** Those that come while it looks are found when it is called again; it must be until `processes` has none. */
  kill(group: string): void {
    for (const { folder, version } of this.#hierarchies) {
      if (version === 2 && existsSync(path.join(folder, group, 'cgroup.kill'))) {
        write(path.join(folder, group), 'cgroup.kill', 1);
      }
    }
    for (const pid of this.processes(group)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  /** With all below it. Answers whether it is gone: while a process of it has not quite ended, it is not. */
  remove(group: string): boolean {
    let gone = true;
    for (const { folder } of this.#hierarchies) {
      for (const each of groupsBelow(path.join(folder, group)).reverse()) {
        try {
          rmdirSync(each);
        } catch {
          if (existsSync(each)) gone = false;
        }
      }
    }
    return gone;
  }

  /** Which of our limits this machine cannot set. */
  missing(): string[] {
    return CONTROLLERS.filter(
      (controller) => !this.#hierarchies.some(({ controllers }) => controllers.has(controller)),
    );
  }

  #controlling(controller: string, group: string): Hierarchy {
    const found = this.#hierarchies.find(({ controllers }) => controllers.has(controller));
    if (found === undefined)
      throw new Error(`this machine cannot limit ${controller}: its cgroups have no such controller`);
    return { ...found, folder: path.join(found.folder, group) };
  }
}

const CONTROLLERS = ['memory', 'pids', 'cpu'];
/** In microseconds. */
const CPU_PERIOD = 100_000;

/** Those that limit something of what we limit: on a machine with version 1, one for each controller. */
function mountedHierarchies(): Hierarchy[] {
  const found = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([, folder = '', type, options = '']): Hierarchy[] => {
      const ours = (words: string[]) => new Set(words.filter((word) => CONTROLLERS.includes(word)));
      if (type === 'cgroup') return [{ folder, version: 1, controllers: ours(options.split(',')) }];
      if (type !== 'cgroup2') return [];
      return [{ folder, version: 2, controllers: ours(read(folder, 'cgroup.controllers').trim().split(' ')) }];
    })
    .filter(({ controllers }) => controllers.size > 0);
  // A hierarchy may be mounted at several places.
  return found.filter(
    ({ version, controllers }, index) =>
      found.findIndex(
        (other) => other.version === version && [...controllers].every((c) => other.controllers.has(c)),
      ) === index,
  );
}

function handOn(folder: string): void {
  const available = read(folder, 'cgroup.controllers').trim().split(' ');
  const already = read(folder, 'cgroup.subtree_control').trim().split(' ');
  const more = CONTROLLERS.filter((controller) => available.includes(controller) && !already.includes(controller));
  if (more.length > 0) write(folder, 'cgroup.subtree_control', more.map((controller) => `+${controller}`).join(' '));
}

/** Itself first, those below after what they are in. */
function groupsBelow(folder: string): string[] {
  return existsSync(folder)
    ? [folder, ...children(folder).flatMap((name) => groupsBelow(path.join(folder, name)))]
    : [];
}

function children(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

const write = (folder: string, file: string, value: string | number): void =>
  writeFileSync(path.join(folder, file), `${value}`);

/** Nothing when it is not there: groups go while they are looked at. */
function read(folder: string, file: string): string {
  try {
    return readFileSync(path.join(folder, file), 'utf8');
  } catch {
    return '';
  }
}
