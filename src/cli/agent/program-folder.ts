import { realpathSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';

/** Where this very program is: containers of ours run from it, so that every container sees it. */
const PROGRAM = resolve(import.meta.dirname, '../../..');

/** Whether a folder, which need not be there yet, would be seen by containers for being inside of the program's. */
export function isInProgram(folder: string): boolean {
  const real = realPath(resolve(folder));
  return real === PROGRAM || real.startsWith(PROGRAM + sep);
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    const above = dirname(folder);
    return above === folder ? folder : realPath(above) + folder.slice(above === sep ? 0 : above.length);
  }
}
