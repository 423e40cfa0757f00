import { readFileSync } from 'node:fs';

/** The numbers of these capabilities; names are without `CAP_`. */
export function capabilityNumbers(capabilities: readonly string[]): number[] {
  return capabilities.map((name) => {
    const number = names.indexOf(name.toUpperCase().replace(/^CAP_/, ''));
    if (number === -1) throw new Error(`there is no capability ${name}: they are named ${names.join(', ')}`);
    return number;
  });
}

/** How many this kernel has. */
export function capabilityCount(): number {
  return Number(readFileSync('/proc/sys/kernel/cap_last_cap', 'utf8')) + 1;
}

/** Those that this process may hand on: inside some container of somebody else, not all. */
export function ownCapabilities(): Set<number> {
  const line = /^CapBnd:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  const bits = BigInt(`0x${line?.[1] ?? '0'}`);
  return new Set(Array.from({ length: 64 }, (_, number) => number).filter((number) => (bits >> BigInt(number)) & 1n));
}

const names = [
  'CHOWN',
  'DAC_OVERRIDE',
  'DAC_READ_SEARCH',
  'FOWNER',
  'FSETID',
  'KILL',
  'SETGID',
  'SETUID',
  'SETPCAP',
  'LINUX_IMMUTABLE',
  'NET_BIND_SERVICE',
  'NET_BROADCAST',
  'NET_ADMIN',
  'NET_RAW',
  'IPC_LOCK',
  'IPC_OWNER',
  'SYS_MODULE',
  'SYS_RAWIO',
  'SYS_CHROOT',
  'SYS_PTRACE',
  'SYS_PACCT',
  'SYS_ADMIN',
  'SYS_BOOT',
  'SYS_NICE',
  'SYS_RESOURCE',
  'SYS_TIME',
  'SYS_TTY_CONFIG',
  'MKNOD',
  'LEASE',
  'AUDIT_WRITE',
  'AUDIT_CONTROL',
  'SETFCAP',
  'MAC_OVERRIDE',
  'MAC_ADMIN',
  'SYSLOG',
  'WAKE_ALARM',
  'BLOCK_SUSPEND',
  'AUDIT_READ',
  'PERFMON',
  'BPF',
  'CHECKPOINT_RESTORE',
];
