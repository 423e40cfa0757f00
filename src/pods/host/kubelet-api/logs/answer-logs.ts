import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { System } from '../../../../runtime/clock.ts';
import type { PodDirectory } from '../../pod-directory.ts';
import type { ContainerRuntime } from '../../runtime.ts';
import { containerWithLog } from '../hosted.ts';
import type { Target } from '../target.ts';
import { logOptions } from './log-options.ts';
import { logOutput } from './log-output.ts';

export async function answerLogs(
  target: Extract<Target, { kind: 'logs' }>,
  query: URLSearchParams,
  response: ServerResponse,
  { directory, runtime, system }: { directory: PodDirectory; runtime: Pick<ContainerRuntime, 'watch'>; system: System },
): Promise<void> {
  const options = logOptions(query, system.now());
  const container = containerWithLog(directory, target, options.previous);
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const isRunning = () => {
    const current = directory.find(target.namespace, target.pod)?.container(target.container).current;
    return current?.id === container.id && current.phase === 'running';
  };
  const source = {
    file: container.logFile,
    onEnd: (ended: () => void) => onEnd(container.id, isRunning, runtime, ended),
  };
  const output = logOutput(source, options, gone.signal);
  response.writeHead(200, { 'Content-Type': 'text/plain' });
  // What is followed may be silent for long: that somebody listens can be told at once.
  response.flushHeaders();
  await pipeline(Readable.from(output, { objectMode: false, highWaterMark: 64 * 1024 }), response).catch(
    (error: unknown) => {
      if (!gone.signal.aborted) throw error;
    },
  );
}

function onEnd(
  id: string,
  isRunning: () => boolean,
  runtime: Pick<ContainerRuntime, 'watch'>,
  ended: () => void,
): () => void {
  const stop = runtime.watch((state) => {
    if (state.id === id && state.phase === 'ended') ended();
  });
  // It may have ended while nobody watched.
  if (!isRunning()) ended();
  return stop;
}
