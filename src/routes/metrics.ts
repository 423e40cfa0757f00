import type { Speaker } from './speaker.ts';

/** What Prometheus reads. Numbers of all peers together: a metric for each peer would grow with every reconnection. */
export function metrics(speaker: Speaker): string {
  const { table, traffic, convergence } = speaker;
  const lines: string[] = [];
  const metric = (name: string, type: string, help: string, samples: Iterable<[string, number]>): void => {
    lines.push(`# HELP netloom_routes_${name} ${help}`, `# TYPE netloom_routes_${name} ${type}`);
    for (const [labels, value] of samples) lines.push(`netloom_routes_${name}${labels} ${value}`);
  };
  metric('peers', 'gauge', 'Sessions by direction and state.', peers(speaker));
  metric('routes', 'gauge', 'Routes known, by virtual network.', routes(speaker));
  metric('routes_stale', 'gauge', 'Routes of servers that are away or have not repeated them yet.', [
    ['', stale(speaker)],
  ]);
  metric('subscriptions', 'gauge', 'Subscriptions to virtual networks.', [['', subscriptions(speaker)]]);
  metric('updates_received_total', 'counter', 'UPDATEs received.', [
    ['{action="add"}', traffic.addsReceived],
    ['{action="remove"}', traffic.removesReceived],
  ]);
  metric('updates_sent_total', 'counter', 'UPDATEs sent.', [
    ['{action="add"}', traffic.addsSent],
    ['{action="remove"}', traffic.removesSent],
  ]);
  const ignored = [...traffic.ignored].map(([reason, count]): [string, number] => [`{reason="${reason}"}`, count]);
  metric('ignored_total', 'counter', 'Messages received and not taken over, by reason.', ignored);
  metric('received_bytes_total', 'counter', 'Bytes received.', [['', traffic.bytesReceived]]);
  metric('sent_bytes_total', 'counter', 'Bytes sent.', [['', traffic.bytesSent]]);
  metric('sessions_ended_total', 'counter', 'Connections that are gone.', [['', speaker.sessionsEnded]]);
  metric('peers_refused_total', 'counter', 'Connections that were not allowed.', [['', speaker.peersRefused]]);
  const changing = [...table.networks.values()].filter(({ pendingCount }) => pendingCount > 0).length;
  metric('networks_changing', 'gauge', 'Virtual networks of which not everybody has been told everything.', [
    ['', changing],
  ]);
  metric('convergence_seconds', 'histogram', 'From a change until everybody has been told.', [
    ...Array.from(convergence.cumulative(), ([bound, count]): [string, number] => [`_bucket{le="${bound}"}`, count]),
    ['_bucket{le="+Inf"}', convergence.count],
    ['_sum', convergence.sum],
    ['_count', convergence.count],
  ]);
  return `${lines.join('\n')}\n`;
}

function peers(speaker: Speaker): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (direction: string, state: string): void => {
    const labels = `{direction="${direction}",state="${state}"}`;
    counts.set(labels, (counts.get(labels) ?? 0) + 1);
  };
  for (const { session } of speaker.accepted) count('incoming', session.state);
  for (const { state } of speaker.upstreams) count('outgoing', state);
  return counts;
}

function* routes({ table }: Speaker): Generator<[string, number]> {
  for (const { vni, routeCount } of table.networks.values()) {
    if (routeCount > 0) yield [`{vni="${vni}"}`, routeCount];
  }
}

const stale = ({ upstreams }: Speaker): number =>
  [...upstreams].reduce((sum, { participant }) => sum + participant.staleCount, 0);

const subscriptions = ({ table }: Speaker): number =>
  [...table.networks.values()].reduce((sum, { askedFor }) => sum + askedFor, 0);
