import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type System, sleep } from '../../../runtime/clock.ts';
import { CHANNEL_PROTOCOLS, Channels, OLDEST_CHANNELS } from '../../../runtime/websocket/channels.ts';
import { WebSocketConnection } from '../../../runtime/websocket/connection.ts';
import { Wire } from '../../../runtime/websocket/wire.ts';
import type { PodDirectory } from '../pod-directory.ts';
import type { ContainerRuntime } from '../runtime.ts';
import { podOf, runningContainer } from './hosted.ts';
import { forwardOverChannels, portsIn } from './port-forward/channel-forwarding.ts';
import type { ForwardTarget } from './port-forward/forward.ts';
import { forwardOverSpdy, PORT_FORWARD_PROTOCOL } from './port-forward/spdy-forwarding.ts';
import { Refusal } from './refusal.ts';
import { channelStreams } from './sessions/channel-streams.ts';
import { runAttach, runExec } from './sessions/run.ts';
import { OLDEST_STREAMS, STREAM_PROTOCOLS, spdyStreams } from './sessions/spdy-streams.ts';
import type { ClientStreams, Wanted } from './sessions/streams.ts';
import { wantedStreams } from './sessions/wanted.ts';
import { agreedStreamProtocol, isSpdy, spdyAgreement } from './spdy/handshake.ts';
import { TUNNELLED, webSocketCarrier } from './spdy/websocket-carrier.ts';
import type { PortForwardTarget, SessionTarget, Target } from './target.ts';
import { agreedProtocol, agreement, isWebSocket } from './websocket-handshake.ts';

/** A request to speak another protocol, and the connection to speak it on. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Told what goes wrong for a reason that is ours. */
  readonly fault: (error: unknown) => void;
}

export interface Serving {
  readonly directory: PodDirectory;
  readonly runtime: Pick<ContainerRuntime, 'exec' | 'attach'>;
  readonly system: System;
}

/** Agrees on a protocol and serves what was asked for in it. Throws only as long as nothing has been agreed on. */
export function serveTunnel(target: Target, query: URLSearchParams, upgrade: Upgrade, serving: Serving): void {
  if (target.kind === 'exec' || target.kind === 'attach') serveSession(target, query, upgrade, serving);
  else if (target.kind === 'port-forward') servePortForward(target, query, upgrade, serving);
  else throw new Refusal(404, '404 page not found');
}

function serveSession(target: SessionTarget, query: URLSearchParams, upgrade: Upgrade, serving: Serving): void {
  const { runtime, directory, system } = serving;
  const wanted = wantedStreams(query);
  const command = query.getAll('command');
  const { id: containerId } = runningContainer(directory, target);
  const protocol = sessionProtocol(upgrade.request, wanted, system);
  converse(upgrade, protocol.answer, system, async (wire) => {
    const client = await protocol.begin(wire);
    if (client === undefined) return;
    const { stdin, tty } = wanted;
    if (target.kind === 'attach') return runAttach(client, () => runtime.attach(containerId));
    // A command may look at the size of its terminal as soon as it begins, and clients tell it at once.
    const size = tty ? await Promise.race([client.firstSize, sleep(system, A_MOMENT, client.gone)]) : undefined;
    const spec = { containerId, command, stdin, tty, ...(size === undefined ? {} : { size }) };
    return runExec(client, () => runtime.exec(spec));
  });
}

const A_MOMENT = 200;

/** How both sides may speak from then on. */
interface Protocol<Begun> {
  /** By which it is agreed on. */
  readonly answer: string;
  begin(wire: Wire): Promise<Begun>;
}

/** Begins with the streams of the client, if it opens them. */
function sessionProtocol(
  request: IncomingMessage,
  wanted: Wanted,
  system: System,
): Protocol<ClientStreams | undefined> {
  if (isSpdy(request)) {
    const name = agreedStreamProtocol(request, STREAM_PROTOCOLS);
    return {
      answer: spdyAgreement(name),
      begin: (wire) => spdyStreams(wire, wanted, name ?? OLDEST_STREAMS, system),
    };
  }
  if (!isWebSocket(request)) throw unknownUpgrade(request);
  const name = agreedProtocol(request, [...CHANNEL_PROTOCOLS.keys()]);
  const protocol = CHANNEL_PROTOCOLS.get(name ?? '') ?? OLDEST_CHANNELS;
  return {
    answer: agreement(request, name),
    begin: async (wire) =>
      channelStreams(new Channels(new WebSocketConnection(wire, 'server', system), protocol), wanted, protocol),
  };
}

function servePortForward(target: PortForwardTarget, query: URLSearchParams, upgrade: Upgrade, serving: Serving): void {
  const { uid, networkNamespace } = podOf(serving.directory, target);
  const to = { pod: target.pod, uid, networkNamespace };
  const protocol = portForwardProtocol(upgrade.request, query, to, serving.system);
  converse(upgrade, protocol.answer, serving.system, (wire) => protocol.begin(wire));
}

function portForwardProtocol(
  request: IncomingMessage,
  query: URLSearchParams,
  to: ForwardTarget,
  system: System,
): Protocol<void> {
  if (isSpdy(request)) {
    const name = agreedStreamProtocol(request, [PORT_FORWARD_PROTOCOL]);
    return { answer: spdyAgreement(name), begin: (wire) => forwardOverSpdy(wire, to, system) };
  }
  if (!isWebSocket(request)) throw unknownUpgrade(request);
  const name = agreedProtocol(request, [`${TUNNELLED}${PORT_FORWARD_PROTOCOL}`, ...CHANNEL_PROTOCOLS.keys()]);
  const answer = agreement(request, name);
  const socketOn = (wire: Wire) => new WebSocketConnection(wire, 'server', system);
  if (name?.startsWith(TUNNELLED) === true) {
    return { answer, begin: (wire) => forwardOverSpdy(webSocketCarrier(socketOn(wire)), to, system) };
  }
  const ports = portsIn(query);
  const channels = CHANNEL_PROTOCOLS.get(name ?? '') ?? OLDEST_CHANNELS;
  return { answer, begin: (wire) => forwardOverChannels(new Channels(socketOn(wire), channels), ports, to) };
}

/** From here on the connection speaks what was agreed on. */
function converse(
  { socket, head, fault }: Upgrade,
  answer: string,
  system: System,
  talk: (wire: Wire) => Promise<void>,
): void {
  socket.write(answer);
  const wire = new Wire(socket, head, system, fault);
  talk(wire).catch(wire.fail);
}

const unknownUpgrade = ({ headers }: IncomingMessage): Refusal =>
  new Refusal(400, `unable to upgrade: neither a WebSocket nor SPDY/3.1 was asked for, but ${headers.upgrade}`);
