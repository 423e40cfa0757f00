import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { System } from '../../../runtime/clock.ts';
import type { PodDirectory } from '../pod-directory.ts';
import type { ContainerRuntime, ContainerState } from '../runtime.ts';
import { runningContainer } from './hosted.ts';
import { Refusal } from './refusal.ts';
import { channelStreams } from './sessions/channel-streams.ts';
import { CHANNEL_PROTOCOLS, Channels, OLDEST } from './sessions/channels.ts';
import { runAttach, runExec } from './sessions/run.ts';
import type { ClientStreams, Wanted } from './sessions/streams.ts';
import { wantedStreams } from './sessions/wanted.ts';
import type { SessionTarget, Target } from './target.ts';
import { WebSocketConnection } from './websocket/connection.ts';
import { agreedProtocol, agreement, isWebSocket } from './websocket/handshake.ts';
import { Wire } from './wire.ts';

/** A request to speak another protocol, and the connection to speak it on. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

export interface Serving {
  readonly directory: PodDirectory;
  readonly runtime: Pick<ContainerRuntime, 'exec' | 'attach'>;
  readonly system: System;
}

/** Serves what takes a conversation. Throws as long as nothing has been agreed on. */
export async function serveTunnel(target: Target, query: URLSearchParams, upgrade: Upgrade, serving: Serving) {
  if (target.kind === 'exec' || target.kind === 'attach') return serveSession(target, query, upgrade, serving);
  throw new Refusal(404, '404 page not found');
}

async function serveSession(target: SessionTarget, query: URLSearchParams, upgrade: Upgrade, serving: Serving) {
  const wanted = wantedStreams(query);
  const container = runningContainer(serving.directory, target);
  const client = await clientStreams(upgrade, wanted, serving);
  if (target.kind === 'exec') await exec(client, container, { ...wanted, command: query.getAll('command') }, serving);
  else await runAttach(client, () => serving.runtime.attach(container.id));
}

function exec(
  client: ClientStreams,
  { id: containerId }: ContainerState,
  { command, stdin, tty }: Wanted & { readonly command: readonly string[] },
  { runtime }: Serving,
): Promise<void> {
  return runExec(client, () => runtime.exec({ containerId, command, stdin, tty }));
}

async function clientStreams(
  { request, socket, head }: Upgrade,
  wanted: Wanted,
  { system }: Serving,
): Promise<ClientStreams> {
  if (!isWebSocket(request)) throw new Refusal(400, 'unable to upgrade: unsupported protocol');
  const name = agreedProtocol(request, [...CHANNEL_PROTOCOLS.keys()]);
  const answer = agreement(request, name);
  socket.write(answer);
  const connection = new WebSocketConnection(new Wire(socket, head, system), system);
  const protocol = CHANNEL_PROTOCOLS.get(name ?? '') ?? OLDEST;
  return channelStreams(new Channels(connection, protocol), wanted, protocol);
}
