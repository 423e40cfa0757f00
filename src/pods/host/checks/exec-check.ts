import type { Readable } from 'node:stream';
import type { ContainerRuntime } from '../runtime.ts';
import { failed, LONGEST_OUTPUT, type Outcome, passed } from './outcome.ts';

/** Runs a command in a container; it fails when it does not end with 0. */
export async function checkByCommand(
  runtime: ContainerRuntime,
  { containerId, command, timeoutMs }: { containerId: string; command: readonly string[]; timeoutMs?: number },
  giveUp: AbortSignal,
): Promise<Outcome> {
  giveUp.throwIfAborted();
  // We give up first, unless we are not there any more.
  const limit = timeoutMs === undefined ? {} : { timeoutMs: timeoutMs + 1_000 };
  const session = await runtime.exec({ containerId, command, stdin: false, tty: false, ...limit });
  const kill = (): void => session.kill();
  giveUp.addEventListener('abort', kill);
  if (giveUp.aborted) kill();
  try {
    const [output, complaint, { exitCode }] = await Promise.all([
      beginningOf(session.stdout),
      session.stderr === undefined ? '' : beginningOf(session.stderr),
      session.ended,
    ]);
    giveUp.throwIfAborted();
    const said = (output + complaint).slice(0, LONGEST_OUTPUT).trim();
    return exitCode === 0 ? passed(said) : failed(said === '' ? `command exited with ${exitCode}` : said);
  } finally {
    giveUp.removeEventListener('abort', kill);
  }
}

/** Reads all of it, so that who writes is not held up, and keeps what one can look at. */
async function beginningOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    if (length < LONGEST_OUTPUT) chunks.push(bytes.subarray(0, LONGEST_OUTPUT - length));
    length += bytes.length;
  }
  return Buffer.concat(chunks).toString('utf8');
}
