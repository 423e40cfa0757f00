import type { Link } from './link.ts';
import type { Participant } from './participant.ts';
import type { Direction, SessionState } from './session.ts';
import type { Speaker } from './speaker.ts';
import type { Upstream } from './upstream.ts';

/** One peer, as `/peers.json` shows it. */
export interface PeerView {
  readonly address: string;
  readonly direction: Direction;
  readonly state: SessionState;
  readonly isServer: boolean;
  /** Of this peer, known now. */
  readonly routesAnnounced: number;
  /** How many of them it has not repeated since its session was lost. */
  readonly routesStale: number;
  /** Told to it, and known to it now. */
  readonly routesTold: number;
  /** Whether it has been told everything. */
  readonly upToDate: boolean;
  /** The virtual networks whose routes it wants; of a server that is dialled: those that are wanted from it. */
  readonly subscriptions: readonly number[];
  /** Absent while there is no connection. */
  readonly connection?: ConnectionView;
}

export interface ConnectionView {
  /** The names in its certificate, if it has shown one. */
  readonly names: readonly string[];
  readonly since: string;
  readonly keepaliveSeconds: number;
  readonly kind: 'netloom' | 'metalbond' | 'unknown';
  readonly received: TrafficView;
  readonly sent: TrafficView;
  /** What was received and not taken over, by reason. */
  readonly ignored: Readonly<Record<string, number>>;
}

export interface TrafficView {
  readonly bytes: number;
  readonly adds: number;
  readonly removes: number;
}

export function* peerViews(speaker: Speaker): Generator<PeerView> {
  for (const link of speaker.accepted) yield ofAccepted(link);
  const wanted = [...speaker.interests()];
  for (const upstream of speaker.upstreams) yield ofUpstream(upstream, wanted);
}

function ofAccepted(link: Link): PeerView {
  const stakes = [...(link.participant?.stakes.values() ?? [])];
  return {
    address: link.wire.remote,
    direction: 'incoming',
    state: link.session.state,
    isServer: link.session.peer?.isServer === true,
    ...routesOf(link.participant),
    subscriptions: stakes.filter(({ subscribed }) => subscribed).map(({ network }) => network.vni),
    connection: connectionOf(link),
  };
}

function ofUpstream({ address, state, participant, link }: Upstream, wanted: readonly number[]): PeerView {
  return {
    address,
    direction: 'outgoing',
    state,
    isServer: true,
    ...routesOf(participant),
    subscriptions: wanted,
    ...(link === undefined ? {} : { connection: connectionOf(link) }),
  };
}

function routesOf(participant: Participant | undefined) {
  return {
    routesAnnounced: participant?.claimCount ?? 0,
    routesStale: participant?.staleCount ?? 0,
    routesTold: participant?.toldCount ?? 0,
    upToDate: participant?.attached === true && participant.pending.size === 0,
  };
}

function connectionOf({ wire, session, since, traffic }: Link): ConnectionView {
  const kinds = { true: 'netloom', false: 'metalbond', undefined: 'unknown' } as const;
  return {
    names: wire.names,
    since: new Date(since).toISOString(),
    keepaliveSeconds: session.keepaliveSeconds,
    kind: kinds[`${session.peer?.readsAnySplit}`],
    received: { bytes: traffic.bytesReceived, adds: traffic.addsReceived, removes: traffic.removesReceived },
    sent: { bytes: traffic.bytesSent, adds: traffic.addsSent, removes: traffic.removesSent },
    ignored: traffic.ignored.toJSON(),
  };
}

/** The whole in a few numbers, for the page to see what has changed. */
export interface Summary {
  readonly peers: number;
  readonly established: number;
  readonly routes: number;
  readonly updates: number;
  readonly networks: readonly { readonly vni: number; readonly routes: number }[];
}

export function summaryOf(speaker: Speaker): Summary {
  const { traffic, table } = speaker;
  const networks = [...table.networks.values()].filter(({ routeCount }) => routeCount > 0);
  return {
    peers: speaker.accepted.size + speaker.upstreams.size,
    established: [...speaker.links()].filter(({ session }) => session.state === 'ESTABLISHED').length,
    routes: table.routeCount,
    updates: traffic.addsReceived + traffic.removesReceived,
    networks: networks.map(({ vni, routeCount }) => ({ vni, routes: routeCount })).sort((a, b) => a.vni - b.vni),
  };
}
