import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { tellKernel } from './kernel-file.ts';

/**
 * A setting of the kernel, by the parts of its name: not joined by dots, because names of links may contain some. Those
 * below `net` belong to the network namespace that this process is in just now (`inNetworkNamespace`).
 */
export type SysctlName = readonly string[];

/** Undefined when this kernel does not have it. */
export function readSysctl(name: SysctlName): string | undefined {
  const file = fileOf(name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/** What it was before; undefined when this kernel does not have it, and then nothing has happened. */
export function writeSysctl(name: SysctlName, value: string): string | undefined {
  const before = readSysctl(name);
  if (before !== undefined && before !== value) tellKernel(`set ${name.join('.')} to ${value}`, fileOf(name), value);
  return before;
}

function fileOf(name: SysctlName): string {
  const odd = name.find((part) => part === '' || part === '.' || part === '..' || part.includes('/'));
  if (odd !== undefined)
    throw new Error(`${name.join('.')} is no name of a kernel setting: "${odd}" cannot be a part of one`);
  return path.join('/proc/sys', ...name);
}
