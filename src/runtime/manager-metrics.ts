import type { ManagerReport } from './manager.ts';
import type { Metric, Sample } from './metrics.ts';

/** What a manager has to say about its controllers, for those who watch over it. */
export function managerMetrics({ controllers, droppedEvents }: ManagerReport): Metric[] {
  const perController = (value: (controller: ManagerReport['controllers'][number]) => number): Sample[] =>
    controllers.map((each) => ({ labels: { controller: each.name }, value: value(each) }));
  return [
    metric(
      'passes_total',
      'counter',
      'Objects looked at.',
      perController(({ passes }) => passes),
    ),
    metric(
      'pass_seconds_total',
      'counter',
      'Time spent on looking at objects.',
      perController(({ seconds }) => seconds),
    ),
    metric(
      'failures_total',
      'counter',
      'Passes that failed and were tried again.',
      perController(({ failures }) => failures),
    ),
    metric(
      'conflicts_total',
      'counter',
      'Passes that were overtaken by somebody else.',
      perController(({ conflicts }) => conflicts),
    ),
    metric(
      'failing',
      'gauge',
      'Objects whose last pass failed.',
      perController(({ failing }) => failing),
    ),
    metric(
      'queue',
      'gauge',
      'Objects that wait for their turn, or for their time, and passes under way.',
      controllers.flatMap(({ name, queue }) =>
        Object.entries(queue).map(([state, value]) => ({ labels: { controller: name, state }, value })),
      ),
    ),
    {
      name: 'netloom_dropped_events_total',
      type: 'counter',
      help: 'Events that were not written.',
      samples: [{ labels: {}, value: droppedEvents }],
    },
  ];
}

const metric = (name: string, type: Metric['type'], help: string, samples: readonly Sample[]): Metric => ({
  name: `netloom_controller_${name}`,
  type,
  help,
  samples,
});
