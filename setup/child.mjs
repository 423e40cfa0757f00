import { spawn } from 'node:child_process';

/** What went wrong, as a sentence for the person who started Netloom. */
export class SetUpError extends Error {}

/**
 * Does the work; a SetUpError becomes one line and exit code 1.
 * @param {() => Promise<void>} work
 */
export async function asSentence(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof SetUpError)) throw error;
    say(error.message);
    process.exitCode = 1;
  }
}

export function requireLinux() {
  if (process.platform === 'linux') return;
  throw new SetUpError(
    `Netloom runs on Linux only, and this is ${process.platform}: use a Linux machine, container or virtual machine`,
  );
}

/** @param {string} line */
export function say(line) {
  process.stderr.write(`netloom: ${line}\n`);
}

/**
 * Runs a program to its end. Signals that ask this process to end are passed on, so that nothing is left behind.
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, stdio: import('node:child_process').StdioOptions }} options
 * @returns {Promise<{ code: number, signal: NodeJS.Signals | null, output: string }>} output: what came through pipes
 */
export function runToEnd(program, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, options);
    /** @type {Buffer[]} */
    const output = [];
    child.stdout?.on('data', (chunk) => output.push(chunk));
    child.stderr?.on('data', (chunk) => output.push(chunk));

    /** @type {NodeJS.Signals[]} */
    const ends = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    /** @param {NodeJS.Signals} signal */
    const passOn = (signal) => {
      // Ctrl-C in a terminal reaches the child without us; a second one would cut its orderly end short.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    for (const signal of ends) process.on(signal, passOn);
    const done = () => {
      for (const signal of ends) process.off(signal, passOn);
    };

    child.on('error', (error) => {
      done();
      reject(error);
    });
    child.on('close', (code, signal) => {
      done();
      resolve({ code: code ?? 1, signal, output: Buffer.concat(output).toString() });
    });
  });
}

/** @param {unknown} error */
export function isMissingProgram(error) {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
