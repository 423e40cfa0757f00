import { constants } from 'node:os';
import { filterCalls } from '../../../linux/call-filter.ts';
import type { CallList } from '../../../linux/call-list.ts';
import { capabilityCount, capabilityNumbers, ownCapabilities } from '../../../linux/capabilities.ts';
import { FIRST_DESCRIPTOR } from '../../../linux/launch.ts';
import { type ContainerSpec, StartError } from '../runtime.ts';

/**
 * The last calls before a program begins: from the supervisor's rights to those of the container. Until then nobody may
 * look into the process or take hold of its program, which is the host's.
 */
export function becomeProgram(calls: CallList, spec: ContainerSpec, { command, tty }: ProgramOptions): void {
  const path = spec.env.findLast(([name]) => name === 'PATH')?.[1] ?? DEFAULT_PATH;
  const [program = ''] = command;
  if (program === '') throw new StartError('CreateContainerError', 'the command is empty');
  if (tty) calls.add('ioctl', [0, TAKE_TERMINAL, 0], { doing: 'take the terminal' });
  // Before any path of the pod is looked up: by way of /proc/self/fd they lead to the host.
  calls.add('close_range', [FIRST_DESCRIPTOR, LAST_DESCRIPTOR, 0], { doing: 'close what is open' });
  dropRights(calls, spec);
  const directory = spec.workingDirectory ?? '/';
  calls.add('chdir', [directory], { explain: (code) => notInDirectory(directory, code, spec.user) });
  calls.add('umask', [0o022]);
  // After the change of user, which would undo it. Whatever happens, no container outlives its supervisor.
  calls.add('prctl', [SET_DEATH_SIGNAL, constants.signals.SIGKILL, 0, 0, 0]);
  calls.add('close_range', [FIRST_OWN, LAST_DESCRIPTOR, CLOSE_RANGE_ON_EXECUTE], { doing: 'close what is open' });
  const folders = path.split(':').map((folder) => (folder === '' ? '.' : folder));
  calls.execute(program.includes('/') ? [program] : folders.map((folder) => `${folder}/${program}`), {
    argv: command,
    env: spec.env.map(([name, value]) => `${name}=${value}`),
    explain: (code) => new StartError('RunContainerError', notExecuted(program, code)),
  });
}

export interface ProgramOptions {
  readonly command: readonly string[];
  readonly tty: boolean;
}

/** Until the program begins, nobody in the container may look into the process that becomes it. */
export function beUntouchable(calls: CallList): void {
  calls.add('prctl', [SET_DUMPABLE, 0, 0, 0, 0]);
}

function dropRights(calls: CallList, { user, group, supplementalGroups, capabilities, ...spec }: ContainerSpec): void {
  if (spec.filtersCalls === true && !spec.privileged) filterCalls(calls, new Set(capabilities), notFiltered);
  const own = ownCapabilities();
  const kept = spec.privileged ? own : new Set(capabilityNumbers(capabilities).filter((number) => own.has(number)));
  for (let number = 0; number < capabilityCount(); number += 1) {
    if (own.has(number) && !kept.has(number))
      calls.add('prctl', [DROP_CAPABILITY, number, 0, 0, 0], { doing: 'drop a capability' });
  }
  const groups = [...new Set(supplementalGroups)];
  const list = Buffer.alloc(groups.length * 4);
  groups.forEach((id, index) => {
    list.writeUInt32LE(id, index * 4);
  });
  calls.add('setgroups', [groups.length, list], { doing: 'set the groups' });
  calls.add('setresgid', [group, group, group], { doing: `become group ${group}` });
  calls.add('setresuid', [user, user, user], { doing: `become user ${user}` });
  // Somebody else than root has lost all of them now, and gains by files only what is left in the bounding set.
  if (user === 0) calls.add('capset', [capabilityHeader(), capabilityData(kept)], { doing: 'set the capabilities' });
  if (spec.noNewPrivileges && !spec.privileged) calls.add('prctl', [SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0]);
}

function capabilityHeader(): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(0x2008_0522);
  return header;
}

/** Effective and permitted; nothing is inheritable. */
function capabilityData(kept: ReadonlySet<number>): Buffer {
  const bits = [...kept].reduce((sum, number) => sum | (1n << BigInt(number)), 0n);
  const data = Buffer.alloc(24);
  for (const [word, at] of [
    [bits & 0xffff_ffffn, 0],
    [bits >> 32n, 12],
  ] as const) {
    data.writeUInt32LE(Number(word), at);
    data.writeUInt32LE(Number(word), at + 4);
  }
  return data;
}

/** Whoever asks for less than all system calls does not get them all because the kernel cannot do better. */
function notFiltered(code: string): StartError {
  const why =
    { ENOSYS: 'it has no filters of system calls', EINVAL: 'it has no filters of system calls' }[code] ?? code;
  return new StartError(
    'CreateContainerError',
    `this kernel cannot keep system calls from the container: ${why}; with seccompProfile.type "Unconfined" it is started without`,
  );
}

export function notInDirectory(directory: string, code: string, user: number): StartError {
  const why =
    { ENOENT: 'there is no such directory', ENOTDIR: 'it is no directory', EACCES: `user ${user} may not enter it` }[
      code
    ] ?? code;
  return new StartError('CreateContainerError', `the working directory ${directory} cannot be entered: ${why}`);
}

function notExecuted(program: string, code: string): string {
  if (code === 'ENOENT' && !program.includes('/')) return `exec: "${program}": executable file not found in $PATH`;
  const why = {
    ENOENT: 'no such file or directory',
    ENOTDIR: 'not a directory',
    EACCES: 'permission denied',
    ENOEXEC: 'exec format error',
    E2BIG: 'the arguments and the environment are too long',
    ELOOP: 'too many levels of symbolic links',
  }[code];
  return `exec: "${program}": ${why ?? code}`;
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const TAKE_TERMINAL = 0x540e;
const SET_DEATH_SIGNAL = 1;
const SET_DUMPABLE = 4;
const DROP_CAPABILITY = 24;
const SET_NO_NEW_PRIVILEGES = 38;
/** After input, output and errors. */
const FIRST_OWN = 3;
const LAST_DESCRIPTOR = 0xffff_ffff;
const CLOSE_RANGE_ON_EXECUTE = 4;
