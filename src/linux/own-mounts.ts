import { cFunction } from './kernel.ts';

/**
 * From now on this thread, and every process that it starts, sees a file in the place of another one, and nobody else does. There
 * is no way back: it is for a program that is there to start another one.
 */
export function seeInstead(place: string, file: string): void {
  const doing = `put ${file} in the place of ${place}`;
  unshare(doing, MOUNTS);
  // What is mounted elsewhere is still seen here, and nothing the other way round.
  mount(doing, 'none', '/', 'none', SLAVE | RECURSIVE, null);
  mount(doing, file, place, 'none', BIND, null);
}

const unshare = cFunction('int unshare(int flags)');
const mount = cFunction('int mount(const char *, const char *, const char *, unsigned long, const char *)');

const MOUNTS = 0x2_0000;
const BIND = 0x1000;
const RECURSIVE = 0x4000;
const SLAVE = 0x8_0000;
