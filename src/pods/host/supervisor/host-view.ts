import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cgroups } from '../../../linux/cgroups.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { veilOver } from './hidden.ts';
import type { HostView } from './root.ts';

/** @param own folders of ours whose contents no container may see */
export function viewOfHost({ own, cgroups }: { own: readonly string[]; cgroups: Cgroups }): HostView {
  const programs = programFolders();
  return {
    veil: veilOver({ own, visible: programs }),
    programs,
    devices: ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`).filter(existsSync),
    concealed: CONCEALED.filter(existsSync).map((file) => ({
      path: file,
      is: statSync(file).isDirectory() ? 'directory' : 'file',
    })),
    readOnlyProc: READ_ONLY.filter(existsSync),
    hasMessageQueues: /\tmqueue$/m.test(readFileSync('/proc/filesystems', 'utf8')),
    cgroupVersion: cgroups.version,
  };
}

/** The host as it was lately: what is made private on it later is hidden from the containers that are started then. */
export function viewsOfHost(clock: Clock, look: () => HostView): () => HostView {
  let view = look();
  let freshUntil = clock.uptime() + FRESH;
  return () => {
    const begin = clock.uptime();
    if (begin < freshUntil) return view;
    view = look();
    const end = clock.uptime();
    // Whoever takes long to look looks rarely: nothing else is done meanwhile.
    freshUntil = end + Math.max(FRESH, SELDOM * (end - begin));
    return view;
  };
}

/** In milliseconds. */
const FRESH = 60_000;
const SELDOM = 500;

/** Containers of ours run `netloom` from its own folder, with the Node.js that this process has. */
function programFolders(): string[] {
  const root = fileURLToPath(new URL('../../../../', import.meta.url)).replace(/\/$/, '');
  const node = path.dirname(process.execPath);
  return node === root || node.startsWith(`${root}/`) || node.startsWith('/usr/') ? [root] : [root, node];
}

/** As other container runtimes do. */
const CONCEALED = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/sys/devices/virtual/powercap',
  '/sys/firmware',
];
const READ_ONLY = ['bus', 'fs', 'irq', 'sys', 'sysrq-trigger'].map((name) => `/proc/${name}`);
