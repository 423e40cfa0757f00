import { type Metric, type Sample, single } from '../runtime/metrics.ts';
import type { Histogram } from './counters.ts';
import type { Speaker } from './speaker.ts';

/** What Prometheus reads. Numbers of all peers together: a metric for each peer would grow with every reconnection. */
export function speakerMetrics(speaker: Speaker): Metric[] {
  const { table, traffic, convergence } = speaker;
  const changing = [...table.networks.values()].filter(({ pendingCount }) => pendingCount > 0).length;
  return [
    metric('peers', 'gauge', 'Sessions by direction and state.', peers(speaker)),
    metric('routes', 'gauge', 'Routes known, by virtual network.', routes(speaker)),
    metric(
      'routes_stale',
      'gauge',
      'Routes of servers that are away or have not repeated them yet.',
      single(stale(speaker)),
    ),
    metric('subscriptions', 'gauge', 'Subscriptions to virtual networks.', single(subscriptions(speaker))),
    metric('updates_received_total', 'counter', 'UPDATEs received.', [
      { labels: { action: 'add' }, value: traffic.addsReceived },
      { labels: { action: 'remove' }, value: traffic.removesReceived },
    ]),
    metric('updates_sent_total', 'counter', 'UPDATEs sent.', [
      { labels: { action: 'add' }, value: traffic.addsSent },
      { labels: { action: 'remove' }, value: traffic.removesSent },
    ]),
    metric(
      'ignored_total',
      'counter',
      'Messages received and not taken over, by reason.',
      Array.from(traffic.ignored, ([reason, value]) => ({ labels: { reason }, value })),
    ),
    metric('received_bytes_total', 'counter', 'Bytes received.', single(traffic.bytesReceived)),
    metric('sent_bytes_total', 'counter', 'Bytes sent.', single(traffic.bytesSent)),
    metric('sessions_ended_total', 'counter', 'Connections that are gone.', single(speaker.sessionsEnded)),
    metric('peers_refused_total', 'counter', 'Connections that were not allowed.', single(speaker.peersRefused)),
    metric(
      'networks_changing',
      'gauge',
      'Virtual networks of which not everybody has been told everything.',
      single(changing),
    ),
    metric(
      'convergence_seconds',
      'histogram',
      'From a change until everybody has been told.',
      distribution(convergence),
    ),
  ];
}

const metric = (name: string, type: Metric['type'], help: string, samples: readonly Sample[]): Metric => ({
  name: `netloom_routes_${name}`,
  type,
  help,
  samples,
});

const distribution = (histogram: Histogram): Sample[] => [
  ...Array.from(histogram.cumulative(), ([bound, value]) => bucket(String(bound), value)),
  bucket('+Inf', histogram.count),
  { suffix: '_sum', labels: {}, value: histogram.sum },
  { suffix: '_count', labels: {}, value: histogram.count },
];

const bucket = (le: string, value: number): Sample => ({ suffix: '_bucket', labels: { le }, value });

function peers(speaker: Speaker): Sample[] {
  const counts = new Map<string, { labels: { direction: string; state: string }; value: number }>();
  const count = (direction: string, state: string): void => {
    const sample = counts.get(`${direction} ${state}`) ?? { labels: { direction, state }, value: 0 };
    counts.set(`${direction} ${state}`, { ...sample, value: sample.value + 1 });
  };
  for (const { session } of speaker.accepted) count('incoming', session.state);
  for (const { state } of speaker.upstreams) count('outgoing', state);
  return [...counts.values()];
}

const routes = ({ table }: Speaker): Sample[] =>
  [...table.networks.values()].flatMap(({ vni, routeCount }) =>
    routeCount > 0 ? [{ labels: { vni: String(vni) }, value: routeCount }] : [],
  );

const stale = ({ upstreams }: Speaker): number =>
  [...upstreams].reduce((sum, { participant }) => sum + participant.staleCount, 0);

const subscriptions = ({ table }: Speaker): number =>
  [...table.networks.values()].reduce((sum, { askedFor }) => sum + askedFor, 0);
