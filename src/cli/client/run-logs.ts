import { pipeline } from 'node:stream/promises';
import { readDuration } from '../duration.ts';
import { type ConnectionOptions, connect } from './connection.ts';
import { explained, podPath } from './pod-request.ts';

interface LogOptions extends ConnectionOptions {
  readonly container: string | undefined;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly tail: number | undefined;
  readonly since: string | undefined;
  readonly timestamps: boolean;
}

export async function printLogs(pod: string, options: LogOptions): Promise<void> {
  const { container, follow, previous, tail, since, timestamps } = options;
  const seconds = since === undefined ? undefined : Math.ceil(readDuration(since, '--since') / 1000);
  const { transport, namespace } = await connect(options);
  const path = podPath(pod, namespace, 'log', [
    ['container', container],
    ['follow', follow],
    ['previous', previous],
    ['tailLines', tail],
    ['sinceSeconds', seconds],
    ['timestamps', timestamps],
  ]);
  await explained(pipeline(transport.bytes({ method: 'GET', path }), process.stdout, { end: false }));
  transport.close();
}
