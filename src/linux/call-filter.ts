import type { Argument, CallList } from './call-list.ts';
import { type SystemCall, systemCallNumber } from './system-calls.ts';

/**
 * From here on the process, and all that come from it, is refused the system calls that ask for no right of the host and yet reach
 * beyond a container. Most of all: whoever may make a user namespace is root in it, and may mount there what shows him the cgroups of
 * the host as his own.
 * @param capabilities what is allowed all the same to those who are to have them; without `CAP_`
 */
export function filterCalls(
  calls: CallList,
  capabilities: ReadonlySet<string>,
  explain: (code: string) => Error | undefined,
): void {
  const filter: Argument = { filter: callFilter(capabilities) };
  calls.add('seccomp', [SET_MODE_FILTER, WITHOUT_SLOWING_DOWN, filter], { explain });
}

/** Calls, and the capabilities each of which allows them. */
const REFUSED: readonly (readonly [call: SystemCall, allowedBy: readonly string[]])[] = [
  // Keys belong to users of the host, whose root is that of the container.
  ['add_key', []],
  ['request_key', []],
  ['keyctl', []],
  ['bpf', ['BPF', 'SYS_ADMIN']],
  ['perf_event_open', ['PERFMON', 'SYS_ADMIN']],
  ['syslog', ['SYSLOG']],
  // Whatever is done by way of a ring passes by this filter.
  ['io_uring_setup', []],
  ['io_uring_enter', []],
  ['io_uring_register', []],
  // Holds the kernel still in the middle of something, which is of use to attacks alone.
  ['userfaultfd', []],
];

/** By whom namespaces may be made or entered. */
const NAMESPACES = 'SYS_ADMIN';

/** The instructions for the kernel. It remembers what they say of calls that they look no further into, so a long list costs nothing. */
function callFilter(capabilities: ReadonlySet<string>): Buffer {
  const refused = REFUSED.filter(([, allowedBy]) => !allowedBy.some((name) => capabilities.has(name)));
  const architecture = process.arch === 'arm64' ? AARCH64 : X86_64;
  return Buffer.concat([
    load(ARCHITECTURE),
    // Programs for 32 bits have other numbers for the same calls.
    ...unless(architecture, answer(ENOSYS)),
    load(NUMBER),
    ...(process.arch === 'x64' ? [jump(AT_LEAST, X32, 0, 1), answer(ENOSYS)] : []),
    ...refused.flatMap(([call]) => when(call, [answer(EPERM)])),
    ...(capabilities.has(NAMESPACES) ? [] : withoutNamespaces()),
    ALLOW,
  ]);
}

function withoutNamespaces(): Buffer[] {
  const looked = (flags: number): Buffer[] => [load(FIRST_ARGUMENT), jump(ANY_OF, flags, 0, 1), answer(EPERM), ALLOW];
  return [
    ...when('clone', looked(NEW)),
    ...when('unshare', looked(NEW | NEW_TIME)),
    // Its flags are in memory, where no filter can look; programs go on with clone.
    ...when('clone3', [answer(ENOSYS)]),
  ];
}

const when = (call: SystemCall, then: readonly Buffer[]): Buffer[] => [
  jump(EQUAL, systemCallNumber(call), 0, then.length),
  ...then,
];

const unless = (value: number, then: Buffer): Buffer[] => [jump(EQUAL, value, 1, 0), then];

/** How many instructions to pass over, when it is so and when it is not. */
const jump = (test: number, value: number, ifSo: number, ifNot: number): Buffer =>
  instruction(JUMP | test, value, ifSo, ifNot);

const load = (offset: number): Buffer => instruction(LOAD_WORD, offset);
const answer = (errno: number): Buffer => instruction(RETURN, FAIL | errno);

function instruction(code: number, value: number, ifSo = 0, ifNot = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code);
  bytes.writeUInt8(ifSo, 2);
  bytes.writeUInt8(ifNot, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}

const LOAD_WORD = 0x20;
const JUMP = 0x05;
const EQUAL = 0x10;
const AT_LEAST = 0x30;
const ANY_OF = 0x40;
const RETURN = 0x06;
const FAIL = 0x0005_0000;
const ALLOW = instruction(RETURN, 0x7fff_0000);

/** Where in the description of a call; of the argument, the half that has the flags. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

const X86_64 = 0xc000_003e;
const AARCH64 = 0xc000_00b7;
/** With this bit, calls of x64 take addresses of 32 bits. */
const X32 = 0x4000_0000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW = 0x7e02_0000;
const NEW_TIME = 0x80;

const SET_MODE_FILTER = 1;
const WITHOUT_SLOWING_DOWN = 4;
const EPERM = 1;
const ENOSYS = 38;
