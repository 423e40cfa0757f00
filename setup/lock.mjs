import { closeSync, openSync } from 'node:fs';
import { isMissingProgram, runToEnd, SetUpError, say } from './child.mjs';
import { root } from './place.mjs';

/**
 * Does the work while no other set-up of this folder runs.
 *
 * The lock belongs to an open file, not to a process: `flock` takes it on the descriptor that it is handed, and the
 * work hands the same descriptor to the programs it starts. So the lock lasts until the last of them is gone, even if
 * this process is killed, and it never has to be cleaned up.
 * @param {(lock: number) => Promise<void>} work
 */
export async function alone(work) {
  const lock = openSync(`${root}/setup`, 'r');
  try {
    if (!(await take(lock, ['--nonblock']))) {
      say('another set-up of this folder is running; waiting for it to end');
      if (!(await take(lock, []))) throw new SetUpError('the program flock could not lock the folder setup/');
    }
    await work(lock);
  } finally {
    closeSync(lock);
  }
}

/** @param {number} lock @param {string[]} options */
async function take(lock, options) {
  try {
    const { code } = await runToEnd('flock', [...options, '3'], { stdio: ['ignore', 'inherit', 'inherit', lock] });
    return code === 0;
  } catch (error) {
    if (!isMissingProgram(error)) throw error;
    throw new SetUpError('set-up needs the program flock: install the package util-linux and start again');
  }
}
