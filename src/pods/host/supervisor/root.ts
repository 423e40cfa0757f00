import path from 'node:path';
import { type Answer, CallList } from '../../../linux/call-list.ts';
import { kindInside } from '../../../linux/inside.ts';
import {
  CLOSE_ON_EXECUTE,
  CURRENT,
  cloneTree,
  DIRECTORY,
  enterRoot,
  forgetOtherMounts,
  makeReadOnly,
  mountAt,
  mountFlags,
  moveTree,
  newFileSystem,
  openWithin,
  PATH_ONLY,
  setRights,
} from '../../../linux/mount-calls.ts';
import { flagsOf } from '../../../linux/namespaces.ts';
import { type ContainerSpec, type Mount, StartError } from '../runtime.ts';
import type { Veil } from './hidden.ts';
import { notInDirectory } from './identity.ts';
import { SHARED_MEMORY } from './sandbox.ts';

/** What all containers of a host have in common. */
export interface HostView {
  readonly veil: Veil;
  /** Seen as they are, read-only. */
  readonly programs: readonly string[];
  /** Devices of the host that every container may use. */
  readonly devices: readonly string[];
  /** Those of the kernel that are in the host's /proc or /sys and not for containers. */
  readonly concealed: readonly { readonly path: string; readonly is: 'directory' | 'file' }[];
  readonly readOnlyProc: readonly string[];
  readonly hasMessageQueues: boolean;
  readonly cgroupVersion: 1 | 2;
}

/** The folders of a container's private layer. */
export interface Layer {
  readonly veil: string;
  readonly upper: string;
  readonly work: string;
  readonly root: string;
}

export function layerIn(folder: string): Layer {
  const [veil, upper, work, root] = ['veil', 'upper', 'work', 'root'].map((name) => path.join(folder, name));
  return { veil, upper, work, root } as Layer;
}

/** What others hold that a container is to see. */
export interface ShownInRoot {
  /** A descriptor, in the new process. */
  readonly terminals: number;
  /** What is at `/dev/shm` in all containers of the sandbox, as a folder of the host. */
  readonly sharedMemory?: string | undefined;
}

/**
 * The calls with which a new process makes the root of a container around itself: the host below, the veil over it, the
 * private layer above. Paths of a pod are looked up only after the root of the host is out of reach, so they cannot lead out.
 */
export function makeRoot(
  calls: CallList,
  spec: ContainerSpec,
  layer: Layer,
  view: HostView,
  { terminals, sharedMemory }: ShownInRoot,
): void {
  const { privileged } = spec;
  calls.add('unshare', [flagsOf(['mnt', 'cgroup'])], { doing: 'make a namespace for mounts' });
  forgetOtherMounts(calls);
  const volumes = spec.mounts.map((mount) => ({ mount, tree: sourceOf(calls, mount, privileged) }));
  const programs = view.programs.map((folder) => ({ folder, tree: programTree(calls, folder) }));
  const devices = privileged
    ? [{ device: '/dev', tree: cloneTree(calls, '/dev', failing('see the devices of the host')) }]
    : view.devices.map((device) => ({ device, tree: deviceTree(calls, device) }));

  const shared =
    sharedMemory === undefined ? undefined : cloneTree(calls, sharedMemory, failing('see the shared memory'));

  layRoot(calls, layer, view.veil, privileged);
  enterRoot(calls, layer.root);

  for (const { folder, tree } of programs) moveTree(calls, tree, folder, failing(`show ${folder}`));
  mountAt(calls, 'sysfs', '/sys', { flags: KERNEL_FLAGS | (privileged ? 0 : mountFlags.readOnly) });
  if (view.cgroupVersion === 2) {
    mountAt(calls, 'cgroup2', '/sys/fs/cgroup', { flags: KERNEL_FLAGS | (privileged ? 0 : mountFlags.readOnly) });
  }
  if (privileged) for (const { tree } of devices) moveTree(calls, tree, '/dev', failing('show the devices'));
  else makeDevices(calls, devices);
  mountTerminals(calls, terminals, spec);
  if (shared !== undefined) moveTree(calls, shared, '/dev/shm', failing('show the shared memory'));
  else mountAt(calls, 'tmpfs', '/dev/shm', { flags: KERNEL_FLAGS, options: `mode=1777,size=${SHARED_MEMORY}` });
  if (view.hasMessageQueues) {
    calls.add('mkdirat', [CURRENT, '/dev/mqueue', 0o755], { tolerate: [EEXIST] });
    mountAt(calls, 'mqueue', '/dev/mqueue', { flags: KERNEL_FLAGS });
  }

  // Before the volumes: one of them may take the place of /dev.
  const nothings = privileged ? [] : nothingsFor(calls, view);
  const root = calls.add('openat', [CURRENT, '/', PATH_ONLY | DIRECTORY | CLOSE_ON_EXECUTE, 0]);
  for (const { mount, tree } of volumes) placeVolume(calls, root, mount, tree);
  // After the volumes: whatever their links have led them to, this is what is seen.
  mountAt(calls, 'proc', '/proc', { flags: KERNEL_FLAGS });
  makeWorkingDirectory(calls, root, spec);
  if (!privileged) conceal(calls, view, nothings);
  if (spec.readOnlyRoot) makeReadOnly(calls, '/');
}

const EEXIST = 17;
const KERNEL_FLAGS = mountFlags.noSuid | mountFlags.noDevices | mountFlags.noPrograms;
const FILE = 0o100000;
const CHARACTER_DEVICE = 0o020000;

/** Rights that a new folder does not get from mkdir(2): two bits that it takes no notice of, and what our umask takes away. */
const NOT_BY_MKDIR = 0o6022;

/** A veil is the same for all containers of a host, and takes a few hundred calls: they are written once. */
const veilCalls = new WeakMap<Veil, CallList>();

function layVeil(veil: Veil): CallList {
  const known = veilCalls.get(veil);
  if (known !== undefined) return known;
  const calls = new CallList();
  for (const entry of veil) {
    const doing = `hide /${entry.path}`;
    if (entry.is === 'nothing') {
      // To overlayfs, this device number means that nothing is there.
      calls.add('mknodat', [CURRENT, entry.path, CHARACTER_DEVICE, 0], { doing });
      continue;
    }
    calls.add('mkdirat', [CURRENT, entry.path, entry.mode], { doing });
    if (entry.user !== 0 || entry.group !== 0) {
      calls.add('fchownat', [CURRENT, entry.path, entry.user, entry.group, 0], { doing });
    }
    if ((entry.mode & NOT_BY_MKDIR) !== 0) calls.add('fchmodat', [CURRENT, entry.path, entry.mode], { doing });
    if (entry.empty) calls.add('setxattr', [entry.path, 'trusted.overlay.opaque', 'y', 1, 0], { doing });
  }
  veilCalls.set(veil, calls);
  return calls;
}

function layRoot(calls: CallList, layer: Layer, veil: Veil, privileged: boolean): void {
  mountAt(calls, 'tmpfs', layer.veil, { flags: mountFlags.noDevices, options: 'mode=755' });
  calls.add('chdir', [layer.veil]);
  calls.include(layVeil(veil));
  const folders = {
    lowerdir: `${escaped(layer.veil)}:/`,
    upperdir: escaped(layer.upper),
    workdir: escaped(layer.work),
  };
  const options = Object.entries(folders).map(([name, value]) => `${name}=${value}`);
  // Nobody needs the layer after a crash, so the disk need not be waited for.
  mountAt(calls, 'overlay', layer.root, {
    flags: privileged ? 0 : mountFlags.noDevices,
    options: [...options, 'volatile'].join(','),
  });
}

/** Commas part options, colons part folders. */
const escaped = (folder: string): string => folder.replace(/[\\,:]/g, '\\$&');

function programTree(calls: CallList, folder: string): Answer {
  const tree = cloneTree(calls, folder, failing(`see ${folder}`), { alone: true });
  setRights(calls, tree, { readOnly: true, withoutDevices: true }, `make ${folder} read-only`);
  return tree;
}

const deviceTree = (calls: CallList, device: string): Answer =>
  cloneTree(calls, device, failing(`see ${device}`), { alone: true });

/** Its own devices are dead, those of the host are mounted into it: so nobody can add others. */
function makeDevices(calls: CallList, devices: readonly { device: string; tree: Answer }[]): void {
  mountAt(calls, 'tmpfs', '/dev', {
    flags: mountFlags.noSuid | mountFlags.noDevices,
    options: 'mode=755,size=65536k',
  });
  for (const { device, tree } of devices) {
    calls.add('mknodat', [CURRENT, device, FILE | 0o666, 0], { doing: `make ${device}` });
    moveTree(calls, tree, device, failing(`show ${device}`));
  }
  for (const [target, link] of Object.entries(DEVICE_LINKS)) calls.add('symlinkat', [link, CURRENT, `/dev/${target}`]);
  for (const folder of ['/dev/pts', '/dev/shm']) calls.add('mkdirat', [CURRENT, folder, 0o755]);
}

const DEVICE_LINKS = {
  fd: '/proc/self/fd',
  stdin: '/proc/self/fd/0',
  stdout: '/proc/self/fd/1',
  stderr: '/proc/self/fd/2',
  ptmx: 'pts/ptmx',
};

function mountTerminals(calls: CallList, terminals: number, { privileged, tty }: ContainerSpec): void {
  moveTree(calls, terminals, '/dev/pts', failing('mount /dev/pts'));
  const showAt = (device: string, source: string): void => {
    calls.add('mknodat', [CURRENT, device, FILE | 0o600, 0], { tolerate: [EEXIST] });
    moveTree(
      calls,
      cloneTree(calls, source, failing(`see ${source}`), { alone: true }),
      device,
      failing(`show ${device}`),
    );
  };
  // In the host's /dev it is a device, not a link to this.
  if (privileged) showAt('/dev/ptmx', '/dev/pts/ptmx');
  if (tty) showAt('/dev/console', '/dev/pts/0');
}

/** One for each file that is concealed. */
const nothingsFor = (calls: CallList, view: HostView): { file: string; tree: Answer }[] =>
  view.concealed
    .filter(({ is }) => is === 'file')
    .map(({ path: file }) => ({
      file,
      tree: cloneTree(calls, '/dev/null', failing('hide something'), { alone: true }),
    }));

function conceal(calls: CallList, view: HostView, nothings: readonly { file: string; tree: Answer }[]): void {
  for (const { path: folder, is } of view.concealed) {
    if (is === 'directory') mountAt(calls, 'tmpfs', folder, { flags: KERNEL_FLAGS | mountFlags.readOnly });
  }
  for (const { file, tree } of nothings) moveTree(calls, tree, file, failing(`hide ${file}`));
  for (const folder of view.readOnlyProc) {
    const tree = cloneTree(calls, folder, failing(`see ${folder}`), { alone: true });
    setRights(calls, tree, { readOnly: true }, `make ${folder} read-only`);
    moveTree(calls, tree, folder, failing(`make ${folder} read-only`));
  }
}

function sourceOf(calls: CallList, mount: Mount, privileged: boolean): Answer {
  const { target, source, subPath, readOnly } = mount;
  const rights = { readOnly, withoutDevices: !privileged };
  if (mount.kind === 'tmpfs') {
    const size = mount.sizeBytes === undefined ? {} : { size: String(mount.sizeBytes) };
    return newFileSystem(calls, 'tmpfs', { mode: '777', ...size }, rights);
  }
  const refuse = refusing(`${source} cannot be mounted at ${target}`);
  let from: string | Answer = source;
  if (subPath !== undefined && subPath !== '') {
    const folder = calls.add('openat', [CURRENT, source, PATH_ONLY | CLOSE_ON_EXECUTE, 0], { explain: refuse });
    from = walk(calls, folder, subPath, {
      outside: 'refused',
      leaf: readOnly ? 'nothing' : 'directory',
      refuse: refusing(`subPath "${subPath}" of ${source} cannot be mounted at ${target}`),
    });
  }
  const tree = cloneTree(calls, from, refuse);
  setRights(calls, tree, rights, `set the rights of the volume at ${target}`);
  return tree;
}

function placeVolume(calls: CallList, root: Answer, mount: Mount, tree: Answer): void {
  const target = path.posix.normalize(`/${mount.target}`);
  const refuse = refusing(`nothing can be mounted at ${mount.target}`);
  const [top = ''] = target.split('/').slice(1);
  if (top === '') throw refuse('it is the root');
  if (top === 'proc') throw refuse('it is below /proc');
  const isFile = mount.kind === 'bind' && kindInside(mount.source, mount.subPath) === 'file';
  const place = walk(calls, root, target.slice(1), {
    outside: 'impossible',
    leaf: isFile ? 'file' : 'directory',
    refuse,
  });
  // What mount(2) calls ENOTDIR is EINVAL here, and nothing else that can be wrong with the two is.
  moveTree(calls, tree, place, (code) => refuse(code === 'EINVAL' ? 'ENOTDIR' : code));
}

/** As other runtimes do where there is none; also in a root that is read-only from then on, and in a volume. */
function makeWorkingDirectory(calls: CallList, root: Answer, { workingDirectory = '/', user }: ContainerSpec): void {
  const refuse = (why: string): Error => notInDirectory(workingDirectory, why, user);
  walk(calls, root, path.posix.normalize(workingDirectory), { outside: 'impossible', leaf: 'directory', refuse });
}

/** Opens what a path leads to, and makes what is missing of it where that is possible. */
function walk(
  calls: CallList,
  folder: Answer,
  target: string,
  options: {
    outside: 'refused' | 'impossible';
    leaf: 'directory' | 'file' | 'nothing';
    refuse: (why: string) => Error;
  },
): Answer {
  const { outside, leaf, refuse } = options;
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  let place = folder;
  parts.forEach((part, index) => {
    const isLeaf = index === parts.length - 1;
    // Where it cannot be made, the next call says that it is not there.
    if (leaf === 'file' && isLeaf) calls.add('mknodat', [place, part, FILE | 0o644, 0], { tolerate: CANNOT_BE_MADE });
    else if (leaf !== 'nothing') calls.add('mkdirat', [place, part, 0o755], { tolerate: CANNOT_BE_MADE });
    const soFar = parts.slice(0, index + 1).join('/');
    place = openWithin(calls, folder, soFar, outside, (code) => refuse(reasonAt(soFar, code)));
  });
  return place;
}

function reasonAt(place: string, code: string): string {
  if (code === 'ENOENT') return `"${place}" is not there and cannot be made, or is a link that leads nowhere`;
  if (code === 'EXDEV') return `"${place}" leads out of the volume`;
  if (code === 'ELOOP') return `"${place}" is a link that may not be followed`;
  if (code === 'ENOTDIR') return `"${place}" is below something that is no directory`;
  return code;
}

/** By number: EPERM, ENOENT, EACCES, EEXIST, ENOTDIR, EINVAL, ENOSPC, EROFS, ELOOP, EOPNOTSUPP, EDQUOT. */
const CANNOT_BE_MADE = [1, 2, 13, 17, 20, 22, 28, 30, 40, 95, 122];

const refusing =
  (what: string) =>
  (why: string): StartError =>
    new StartError('CreateContainerError', `${what}: ${MEANINGS[why] ?? why}`);

const failing =
  (doing: string) =>
  (code: string): StartError =>
    new StartError('CreateContainerError', `the root of the container cannot be made: ${doing}: ${code}`);

const MEANINGS: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there',
  ENOTDIR: 'a directory cannot be mounted over a file, nor a file over a directory',
  EACCES: 'it may not be accessed',
};
