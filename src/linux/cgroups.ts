import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { tellKernel } from './kernel-file.ts';
import { openProcess, signalProcess } from './process-descriptor.ts';

/** What a group of processes may use together; what is left out is not limited. */
export interface CgroupLimits {
  readonly memoryBytes?: number;
  readonly processes?: number;
  /** Thousandths of a processor. */
  readonly cpuMillis?: number;
  /** Thousandths of a processor that it has asked for: by these, processors are shared out where there are not enough for all. */
  readonly cpuAskedMillis?: number;
}

export type Controller = (typeof CONTROLLERS)[number];

export interface Hierarchy {
  readonly folder: string;
  readonly version: 1 | 2;
  /** Those of what we limit: none where groups are only for telling processes apart. */
  readonly controllers: ReadonlySet<Controller>;
}

/**
 * Groups of processes, the same for both versions of cgroups: a group is a path such as `netloom-a/UID/ID`, which is a folder in
 * every hierarchy of the machine. Also where nothing is limited: whoever is in none of our groups there takes the root of the hierarchy for his own, and with
 * it whatever may be done there to all processes of the machine.
 */
export class Cgroups {
  readonly #hierarchies: readonly Hierarchy[];

  constructor(hierarchies: readonly Hierarchy[] = mountedHierarchies()) {
    this.#hierarchies = hierarchies;
  }

  /** Which version has the limits. */
  get version(): 1 | 2 {
    return this.#hierarchies.some(({ version, controllers }) => version === 1 && controllers.size > 0) ? 1 : 2;
  }

  /** With all that is above it. What is there already stays as it is. */
  make(group: string): void {
    const parts = group.split('/');
    for (const { folder, version, controllers } of this.#hierarchies) {
      // In version 2 a group hands the controllers on to those below it, which have the processes.
      if (version === 2 && controllers.size > 0) {
        parts.forEach((_, depth) => {
          handOn(path.join(folder, ...parts.slice(0, depth)));
          mkdirSync(path.join(folder, ...parts.slice(0, depth + 1)), { recursive: true });
        });
      } else {
        mkdirSync(path.join(folder, group), { recursive: true });
        if (version === 1) giveProcessors(folder, parts);
      }
    }
  }

  /** @returns which of these limits this machine cannot set: the group is not limited in that */
  limit(group: string, { memoryBytes, processes, cpuMillis, cpuAskedMillis }: CgroupLimits): Controller[] {
    const sharing = this.#controlling('cpu', group);
    if (cpuAskedMillis !== undefined && sharing !== undefined) shareProcessors(sharing, cpuAskedMillis);
    const wanted: [Controller, ((at: Hierarchy) => void) | undefined][] = [
      ['memory', memoryBytes === undefined ? undefined : (at) => limitMemory(at, memoryBytes)],
      ['pids', processes === undefined ? undefined : ({ folder }) => write(folder, 'pids.max', processes)],
      ['cpu', cpuMillis === undefined ? undefined : (at) => limitProcessors(at, cpuMillis)],
    ];
    return wanted.flatMap(([controller, limitAt]) => {
      if (limitAt === undefined) return [];
      const at = this.#controlling(controller, group);
      // Somebody around us may keep a controller to himself, and a kernel may have one that limits nothing.
      if (at === undefined || !existsSync(path.join(at.folder, LIMITS[controller][at.version]))) return [controller];
      limitAt(at);
      return [];
    });
  }

  /**
   * A group inside another that has processes of its own: it limits nothing further, but its processes can be told apart. One
   * hierarchy is enough for that.
   */
  makePart(group: string, part: string): void {
    const hierarchy = this.#ofParts();
    if (hierarchy !== undefined) mkdirSync(path.join(hierarchy.folder, group, part), { recursive: true });
  }

  /** Removes a part; what still runs in it goes on in the group around it. Answers whether it is gone. */
  dissolvePart(group: string, part: string): boolean {
    const hierarchy = this.#ofParts();
    if (hierarchy === undefined) return true;
    const around = path.join(hierarchy.folder, group);
    for (const pid of this.processes(`${group}/${part}`)) {
      try {
        write(around, 'cgroup.procs', pid);
      } catch {
        // It has ended meanwhile.
      }
    }
    return this.remove(`${group}/${part}`);
  }

  /** Files: a process that writes 0 to each of them is in the group, and in a part of it. */
  joins(group: string, part = ''): string[] {
    const ofParts = this.#ofParts();
    return this.#hierarchies.map((hierarchy) =>
      path.join(hierarchy.folder, group, hierarchy === ofParts ? part : '', 'cgroup.procs'),
    );
  }

  /** This process is in the group from now on. */
  join(group: string): void {
    for (const file of this.joins(group)) tellKernel(`join the group of ${file}`, file, 0);
  }

  /** The folders that stand for the group. */
  folders(group: string): string[] {
    return this.#hierarchies.map(({ folder }) => path.join(folder, group));
  }

  /** How often the kernel has ended a process of the group because there was no memory left for it. */
  outOfMemoryKills(group: string): number {
    const at = this.#controlling('memory', group);
    if (at === undefined) return 0;
    const text = read(at.folder, at.version === 2 ? 'memory.events' : 'memory.oom_control');
    return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  /** How often the kernel has refused to start a process in the group or in one below it. */
  refusedProcesses(group: string): number {
    const at = this.#controlling('pids', group);
    if (at === undefined) return 0;
    // Version 1 counts where the process was to be, version 2 where the limit is and above.
    const refused = groupsBelow(at.folder).map((each) => /^max (\d+)$/m.exec(read(each, 'pids.events'))?.[1]);
    return refused.reduce((sum, each) => sum + Number(each ?? 0), 0);
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
    this.liftProcessorLimit(group);
    for (const { folder, version } of this.#hierarchies) {
      if (version === 2 && existsSync(path.join(folder, group, 'cgroup.kill'))) {
        write(path.join(folder, group), 'cgroup.kill', 1);
      }
    }
    const all = this.processes(group);
    for (let first = 0; first < all.length; first += AT_ONCE) this.#killThese(group, all.slice(first, first + AT_ONCE));
  }

  /** Dying takes time on a processor too: who was given little of it would be long about it. */
  liftProcessorLimit(group: string): void {
    const at = this.#controlling('cpu', group);
    if (at === undefined) return;
    orUndefined(() => write(at.folder, LIMITS.cpu[at.version], at.version === 2 ? 'max' : -1));
    orUndefined(() => shareProcessors(at, AS_A_WHOLE_ONE));
  }

  /** Numbers of processes are given anew: who is killed is who is in the group when there is a hold on it. */
  #killThese(group: string, pids: readonly number[]): void {
    const held = pids.flatMap((pid) => {
      const descriptor = orUndefined(() => openProcess(pid));
      return descriptor === undefined ? [] : [{ pid, descriptor }];
    });
    const inGroup = new Set(this.processes(group));
    for (const { pid, descriptor } of held) {
      if (inGroup.has(pid)) orUndefined(() => signalProcess(descriptor, 'SIGKILL'));
      closeSync(descriptor);
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
  missing(): Controller[] {
    return CONTROLLERS.filter((controller) => this.#controlling(controller, '') === undefined);
  }

  #controlling(controller: Controller, group: string): Hierarchy | undefined {
    const found = this.#hierarchies.find(({ controllers }) => controllers.has(controller));
    return found === undefined ? undefined : { ...found, folder: path.join(found.folder, group) };
  }

  #ofParts(): Hierarchy | undefined {
    return this.#hierarchies.find(({ controllers }) => controllers.has('pids')) ?? this.#hierarchies[0];
  }
}

const CONTROLLERS = ['memory', 'pids', 'cpu'] as const;
/** The files that have the limits, by version. */
const LIMITS: Readonly<Record<Controller, Readonly<Record<1 | 2, string>>>> = {
  memory: { 1: 'memory.limit_in_bytes', 2: 'memory.max' },
  pids: { 1: 'pids.max', 2: 'pids.max' },
  cpu: { 1: 'cpu.cfs_quota_us', 2: 'cpu.max' },
};
/** In microseconds. */
const CPU_PERIOD = 100_000;
/** How many processes are held at once while they are killed: each takes a descriptor. */
const AT_ONCE = 256;

function limitMemory({ folder, version }: Hierarchy, bytes: number): void {
  if (version === 2) {
    write(folder, 'memory.max', bytes);
    if (existsSync(path.join(folder, 'memory.swap.max'))) write(folder, 'memory.swap.max', 0);
    // Half a container is worse than none: it ends as a whole, and is started again.
    if (existsSync(path.join(folder, 'memory.oom.group'))) write(folder, 'memory.oom.group', 1);
    return;
  }
  write(folder, 'memory.limit_in_bytes', bytes);
  // Memory and swap together: there are kernels that do not count swap.
  if (existsSync(path.join(folder, 'memory.memsw.limit_in_bytes'))) write(folder, 'memory.memsw.limit_in_bytes', bytes);
}

function limitProcessors({ folder, version }: Hierarchy, cpuMillis: number): void {
  // The kernel takes no quota below a millisecond.
  const quota = Math.max(1_000, Math.round((cpuMillis * CPU_PERIOD) / 1_000));
  if (version === 2) {
    write(folder, 'cpu.max', `${quota} ${CPU_PERIOD}`);
    return;
  }
  write(folder, 'cpu.cfs_period_us', CPU_PERIOD);
  write(folder, 'cpu.cfs_quota_us', quota);
}

/** Between those of one group. Where the kernel cannot share them out, all are equal. */
function shareProcessors({ folder, version }: Hierarchy, cpuAskedMillis: number): void {
  const shares = Math.min(MOST_SHARES, Math.max(FEWEST_SHARES, Math.floor((cpuAskedMillis * 1024) / 1000)));
  const weight = 1 + Math.floor(((shares - FEWEST_SHARES) * 9999) / (MOST_SHARES - FEWEST_SHARES));
  const [file, value] = version === 2 ? ['cpu.weight', weight] : ['cpu.shares', shares];
  if (existsSync(path.join(folder, file))) write(folder, file, value);
}

const AS_A_WHOLE_ONE = 1_000;
/** What version 1 takes; version 2 takes 1 to 10000 instead. */
const FEWEST_SHARES = 2;
const MOST_SHARES = 262_144;

function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** On a machine with version 1, one for each controller or some of them, and often one of version 2 beside them that has none. */
function mountedHierarchies(): Hierarchy[] {
  const found = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([, folder = '', type, options = '']): Hierarchy[] => {
      const ours = (words: string[]) => new Set(CONTROLLERS.filter((controller) => words.includes(controller)));
      if (type === 'cgroup') return [{ folder, version: 1, controllers: ours(options.split(',')) }];
      if (type !== 'cgroup2') return [];
      return [{ folder, version: 2, controllers: ours(read(folder, 'cgroup.controllers').trim().split(' ')) }];
    })
    // Where we may make no groups, limits are refused in words; for the others there is nothing to say.
    .filter(({ folder, controllers }) => controllers.size > 0 || isWritable(folder));
  // A hierarchy may be mounted at several places.
  const seen = new Set<number | undefined>();
  return found.filter(({ folder }) => {
    const device = orUndefined(() => statSync(folder).dev);
    if (device === undefined || seen.has(device)) return false;
    seen.add(device);
    return true;
  });
}

const isWritable = (folder: string): boolean => orUndefined(() => accessSync(folder, constants.W_OK) ?? true) ?? false;

/** A new group of the hierarchy `cpuset` has no processors and no memory, and takes nobody in before it has what is around it. */
function giveProcessors(folder: string, parts: readonly string[]): void {
  const given = ['cpuset.cpus', 'cpuset.mems'];
  const lacks = (group: string): boolean =>
    existsSync(path.join(group, 'cpuset.cpus')) && read(group, 'cpuset.cpus').trim() === '';
  if (!lacks(path.join(folder, ...parts))) return;
  parts.forEach((_, depth) => {
    const [around, group] = [
      path.join(folder, ...parts.slice(0, depth)),
      path.join(folder, ...parts.slice(0, depth + 1)),
    ];
    if (!lacks(group)) return;
    for (const file of given) write(group, file, read(around, file).trim());
    // Those that are made in it later have them from the beginning.
    write(group, 'cgroup.clone_children', 1);
  });
}

/** What cannot be handed on, as inside a container of somebody else, limits nothing below. */
function handOn(folder: string): void {
  const available = read(folder, 'cgroup.controllers').trim().split(' ');
  const already = read(folder, 'cgroup.subtree_control').trim().split(' ');
  for (const controller of CONTROLLERS) {
    if (!available.includes(controller) || already.includes(controller)) continue;
    orUndefined(() => write(folder, 'cgroup.subtree_control', `+${controller}`));
  }
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
  tellKernel(`write ${value} to ${path.join(folder, file)}`, path.join(folder, file), value);

/** Nothing when it is not there: groups go while they are looked at. */
function read(folder: string, file: string): string {
  try {
    return readFileSync(path.join(folder, file), 'utf8');
  } catch {
    return '';
  }
}
