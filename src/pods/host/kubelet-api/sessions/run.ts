import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { AttachSession, ExecSession } from '../../runtime.ts';
import { exited, failed, success } from './outcome.ts';
import type { ClientStreams, Output } from './streams.ts';

/** Lets a client speak with a command. A command whose client is gone is ended. */
export async function runExec(client: ClientStreams, start: () => Promise<ExecSession>): Promise<void> {
  const doing = 'error executing command in container';
  let session: ExecSession;
  try {
    session = await start();
  } catch (error) {
    return client.end(failed(doing, error));
  }
  const kill = () => session.kill();
  client.gone.addEventListener('abort', kill, { once: true });
  if (client.gone.aborted) kill();
  try {
    const spoken = join(client, session);
    const [{ exitCode }] = await Promise.all([session.ended, spoken]);
    await client.end(exited(exitCode));
  } catch (error) {
    await client.end(failed(doing, error));
  } finally {
    client.gone.removeEventListener('abort', kill);
  }
}

/** Lets a client hear a container, and speak to it, until either is gone. */
export async function runAttach(client: ClientStreams, start: () => Promise<AttachSession>): Promise<void> {
  const doing = 'error attaching to container';
  let session: AttachSession;
  try {
    session = await start();
  } catch (error) {
    return client.end(failed(doing, error));
  }
  const close = () => session.close();
  client.gone.addEventListener('abort', close, { once: true });
  try {
    if (!client.gone.aborted) await join(client, session);
    await client.end(success);
  } catch (error) {
    await client.end(failed(doing, error));
  } finally {
    client.gone.removeEventListener('abort', close);
    close();
  }
}

/** Resolves when all output has been passed on. */
async function join(client: ClientStreams, session: Pick<ExecSession, 'stdin' | 'stdout' | 'stderr' | 'resize'>) {
  client.onResize(({ columns, rows }) => session.resize(columns, rows));
  const { stdin } = session;
  if (stdin !== undefined && client.stdin !== undefined) {
    // What does not read its input does not need the rest of it.
    stdin.on('error', () => client.stdin?.destroy());
    stdin.on('close', () => client.stdin?.destroy());
    client.stdin.pipe(stdin);
  }
  await Promise.all([pass(session.stdout, client.stdout), pass(session.stderr, client.stderr)]);
}

async function pass(from: Readable | undefined, to: Output | undefined): Promise<void> {
  if (from === undefined) return;
  if (to === undefined) {
    from.resume();
    return finished(from, { writable: false });
  }
  for await (const bytes of from) await to(bytes);
}
