import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import path from 'node:path';

/**
 * What containers see instead of parts of the host, as entries of a layer above the host's file system: folders that
 * begin empty, and files that are not there.
 */
export type Veil = readonly VeilEntry[];

export type VeilEntry =
  | {
      readonly is: 'folder';
      /** Relative to the root. What a folder is in comes before it. */
      readonly path: string;
      readonly mode: number;
      readonly user: number;
      readonly group: number;
      /** Whether what the host has there is hidden; otherwise only something below it is. */
      readonly empty: boolean;
    }
  | { readonly is: 'nothing'; readonly path: string };

/**
 * @param own folders of ours whose contents no container may see, wherever they are
 * @param visible folders that are seen even inside hidden ones: the programs that containers of ours run from
 */
export function veilOver({ own, visible }: { own: readonly string[]; visible: readonly string[] }): Veil {
  const veil = new VeilMaker();
  veil.empty('/tmp', { mode: 0o1777 });
  veil.empty('/var/tmp', { mode: 0o1777 });
  veil.empty('/run', { mode: 0o755 });
  veil.folder('/run/lock', { mode: 0o1777 });
  for (const folder of EMPTY) veil.empty(folder);
  for (const folder of STATE) veil.emptyWithFolders(folder);
  for (const folder of ['/', '/etc']) veil.withoutSecrets(folder);
  for (const folder of own) veil.empty(folder);
  veil.withoutPrivate(visible);
  for (const folder of visible) veil.show(folder);
  return veil.entries();
}

/** Homes, keys and what only the boot needs: always, so that what comes later is hidden as well. */
const EMPTY = [
  '/root',
  '/home',
  '/boot',
  '/lost+found',
  '/etc/ssh',
  '/etc/ssl/private',
  '/etc/pki/tls/private',
  '/etc/kubernetes',
  '/etc/netloom',
  '/etc/wireguard',
  '/etc/letsencrypt',
];

/** State of the host's own services: a container finds the same folders, and nothing in them. */
const STATE = ['/var/lib', '/var/cache', '/var/log', '/var/spool', '/var/backups', '/var/mail', '/var/local'];

/** What everybody has anyway: it is not looked through for what is private. */
const OF_THE_SYSTEM = /^\/(usr|s?bin|lib(x?32|64)?|nix|gnu)$/;

/** Below those, what the owner of the host has put there. */
const OF_THE_OWNER = ['/usr/local/etc'];

/** The kernel's own are mounted afresh. */
const KERNEL = ['/proc', '/sys', '/dev'];

const OTHERS_MAY_READ = 0o004;
const OTHERS_MAY_ENTER = 0o011;

class VeilMaker {
  readonly #entries = new Map<string, VeilEntry>();

  entries(): Veil {
    return [...this.#entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  empty(folder: string, { mode }: { mode?: number } = {}): void {
    const real = realPath(folder);
    const stats = statsOf(real);
    if (stats?.isDirectory() !== true || real === '/' || this.#isHidden(real)) return;
    this.#within(path.dirname(real));
    this.#put(real, { stats, empty: true, ...(mode === undefined ? {} : { mode }) });
  }

  folder(folder: string, { mode }: { mode: number }): void {
    this.#put(folder, { stats: undefined, mode, empty: false });
  }

  emptyWithFolders(folder: string): void {
    this.empty(folder);
    for (const name of names(folder)) {
      const stats = statsOf(path.join(folder, name));
      if (stats?.isDirectory()) this.#put(path.join(folder, name), { stats, empty: false });
    }
  }

  /** What users of the host may not read is not for containers either, whoever they run as. */
  withoutSecrets(folder: string): void {
    for (const name of names(folder)) {
      const file = path.join(folder, name);
      const stats = statsOf(file);
      if (stats === undefined || stats.isSymbolicLink() || KERNEL.includes(file)) continue;
      if (stats.isDirectory()) {
        if ((stats.mode & OTHERS_MAY_READ) === 0) this.empty(file);
        else if (folder !== '/') this.withoutSecrets(file);
      } else if ((stats.mode & OTHERS_MAY_READ) === 0) {
        this.#hide(file);
      }
    }
  }

  /** The same of all other folders; what is in them is not ours to know beforehand, and may be much. */
  withoutPrivate(visible: readonly string[]): void {
    const folders = names('/')
      .map((name) => `/${name}`)
      .filter((folder) => !OF_THE_SYSTEM.test(folder) && folder !== '/etc' && !KERNEL.includes(folder))
      .filter((folder) => statsOf(folder)?.isDirectory() && !this.#isEmpty(folder));
    // What is mounted is not shown anyway, and may be larger than anybody can look through.
    const root = statsOf('/')?.dev;
    for (const folder of folders.filter((each) => statsOf(each)?.dev !== root)) this.empty(folder);
    const known = [...this.#entries.keys()].filter((folder) => this.#isEmpty(folder));
    for (const file of privateBelow(
      [...folders, ...OF_THE_OWNER].filter((each) => statsOf(each)?.dev === root),
      [...visible, ...known],
    )) {
      if (this.#isHidden(file)) continue;
      if (statsOf(file)?.isDirectory()) this.empty(file);
      else this.#hide(file);
    }
  }

  show(folder: string): void {
    this.#within(folder);
    for (const above of ancestors(folder)) {
      const entry = this.#entries.get(above);
      if (entry?.is !== 'folder') continue;
      this.#entries.set(above, { ...entry, mode: entry.mode | OTHERS_MAY_ENTER });
    }
  }

  #hide(file: string): void {
    this.#within(path.dirname(file));
    this.#entries.set(file, { is: 'nothing', path: relative(file) });
  }

  #within(folder: string): void {
    for (const above of [...ancestors(folder), folder]) {
      if (above === '/' || this.#entries.get(above)?.is === 'folder') continue;
      this.#put(above, { stats: statsOf(above), empty: false });
    }
  }

  #put(folder: string, { stats, mode, empty }: { stats: Stats | undefined; mode?: number; empty: boolean }): void {
    this.#entries.set(folder, {
      is: 'folder',
      path: relative(folder),
      mode: mode ?? (stats?.mode ?? 0o755) & 0o7777,
      user: stats?.uid ?? 0,
      group: stats?.gid ?? 0,
      empty: empty || this.#isEmpty(folder),
    });
  }

  /** Not even the name of what is in an empty folder is seen. */
  #isHidden(folder: string): boolean {
    return ancestors(folder).some((above) => this.#isEmpty(above));
  }

  #isEmpty(folder: string): boolean {
    const entry = this.#entries.get(folder);
    return entry?.is === 'folder' && entry.empty;
  }
}

/** What users of the host may not read in these folders, without what is mounted there; of what is in it, nothing. */
function privateBelow(folders: readonly string[], passedOver: readonly string[]): string[] {
  if (folders.length === 0) return [];
  const none = passedOver.flatMap((folder) => ['-path', folder.replace(/[\\*?[\]]/g, '\\$&'), '-o']);
  const words = [...folders, '-xdev', '(', ...none, '-false', ')', '-prune', '-o'];
  const isPrivate = ['!', '-type', 'l', '!', '-perm', '-004', '-print0', '-prune'];
  const { stdout, error } = spawnSync('find', [...words, ...isPrivate], { maxBuffer: MOST, timeout: PATIENCE });
  // What cannot be looked through is not for containers at all.
  return error === undefined ? stdout.toString().split('\0').filter(Boolean) : [...folders];
}

const MOST = 4 * 2 ** 20;
/** In milliseconds; an agent waits for a supervisor, but not for ever. */
const PATIENCE = 5_000;

const relative = (file: string): string => file.slice(1);

/** From the root downwards, without the root and without itself. */
function ancestors(file: string): string[] {
  const parts = file.split('/').slice(1, -1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function statsOf(file: string): Stats | undefined {
  return lstatSync(file, { throwIfNoEntry: false });
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
