import { readFile, statfs } from 'node:fs/promises';
import { arch, availableParallelism, release } from 'node:os';
import { type KernelFeature, kernelFeatures } from '../linux/kernel-features.ts';

/** What stays as it is while the machine runs. */
export interface Machine {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernel: string;
  readonly osImage: string;
  /** As Go calls it: `amd64`. */
  readonly architecture: string;
  /** Nothing where the kernel does not say how it was built. */
  readonly features: ReadonlyMap<KernelFeature, boolean>;
}

/** What is used up and comes free again. */
export interface Supplies {
  readonly memoryAvailable: number;
  readonly diskBytes: number;
  readonly diskAvailable: number;
  readonly inodes: number;
  readonly inodesFree: number;
  readonly threads: number;
  readonly mostThreads: number;
}

export async function readMachine(): Promise<Machine> {
  const [machineId, systemUuid, bootId, osRelease, features] = await Promise.all([
    textOf('/etc/machine-id'),
    textOf('/sys/class/dmi/id/product_uuid'),
    textOf('/proc/sys/kernel/random/boot_id'),
    textOf('/etc/os-release'),
    kernelFeatures(),
  ]);
  return {
    cpus: availableParallelism(),
    memoryBytes: (await memory()).get('MemTotal') ?? 0,
    machineId,
    systemUuid: systemUuid || machineId,
    bootId,
    kernel: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)/m.exec(osRelease)?.[1] ?? 'Linux',
    architecture: { x64: 'amd64', ia32: '386' }[arch() as string] ?? arch(),
    features,
  };
}

/** @param folder on the disk that pods write to */
export async function readSupplies(folder: string): Promise<Supplies> {
  const [{ bsize, blocks, bavail, files, ffree }, available, load, limits] = await Promise.all([
    statfs(folder),
    memory(),
    textOf('/proc/loadavg'),
    Promise.all(['pid_max', 'threads-max'].map((name) => textOf(`/proc/sys/kernel/${name}`))),
  ]);
  return {
    memoryAvailable: available.get('MemAvailable') ?? 0,
    diskBytes: bsize * blocks,
    diskAvailable: bsize * bavail,
    inodes: files,
    inodesFree: ffree,
    threads: Number(/^\S+ \S+ \S+ \d+\/(\d+)/.exec(load)?.[1] ?? 0),
    mostThreads: Math.min(...limits.map((limit) => Number(limit) || Number.POSITIVE_INFINITY)),
  };
}

/** In bytes, by the names in /proc/meminfo. */
async function memory(): Promise<Map<string, number>> {
  const lines = (await textOf('/proc/meminfo')).matchAll(/^(\w+):\s+(\d+) kB$/gm);
  return new Map([...lines].map(([, name = '', kilobytes]) => [name, Number(kilobytes) * 1024]));
}

const textOf = async (file: string): Promise<string> => (await readFile(file, 'utf8').catch(() => '')).trim();
