import type { JsonObject } from '../../../api/json.ts';
import type { Column } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn, wideColumn } from '../columns.ts';
import { age } from '../human-duration.ts';
import {
  flagAt,
  isAbsent,
  metadataOf,
  numberAt,
  objectAt,
  objectsAt,
  optionalNumberAt,
  specOf,
  statusOf,
  textAt,
} from '../reading.ts';

export const podColumns: readonly Column[] = [
  nameColumn,
  column('Ready', { description: 'Ready containers of all containers.' }, (pod) => {
    const { ready, total } = summaryOf(pod);
    return `${ready}/${total}`;
  }),
  column(
    'Status',
    { description: 'What the pod is doing, or what keeps it from its work.' },
    (pod) => summaryOf(pod).reason,
  ),
  column('Restarts', { description: 'Restarts of the containers, and when the last one was.' }, (pod, now) => {
    const { restarts, lastRestart } = summaryOf(pod);
    return restarts === 0 || lastRestart === '' ? String(restarts) : `${restarts} (${age(lastRestart, now)} ago)`;
  }),
  ageColumn,
  wideColumn('IP', 'First address of the pod.', (pod) => textAt(objectsAt(statusOf(pod), 'podIPs')[0], 'ip') || NONE),
  wideColumn('Node', 'Node that the pod runs on.', (pod) => textAt(specOf(pod), 'nodeName') || NONE),
  wideColumn(
    'Nominated Node',
    'Node on which room is made for the pod.',
    (pod) => textAt(statusOf(pod), 'nominatedNodeName') || NONE,
  ),
  wideColumn('Readiness Gates', 'Conditions that the pod waits for, and how many are met.', readinessGates),
];

const NONE = '<none>';

interface Summary {
  ready: number;
  total: number;
  restarts: number;
  lastRestart: string;
  reason: string;
}

/** One pod in a word and three numbers, as kubectl has always shown it. */
function summaryOf(pod: JsonObject): Summary {
  const spec = specOf(pod);
  const status = statusOf(pod);
  const sidecars = new Set(
    objectsAt(spec, 'initContainers')
      .filter((container) => container['restartPolicy'] === 'Always')
      .map((container) => textAt(container, 'name')),
  );
  const summary: Summary = {
    ready: 0,
    total: objectsAt(spec, 'containers').length + sidecars.size,
    restarts: 0,
    lastRestart: '',
    reason: textAt(status, 'reason') || textAt(status, 'phase'),
  };
  const scheduled = conditionOf(status, 'PodScheduled');
  if (textAt(scheduled, 'reason') === 'SchedulingGated') summary.reason = 'SchedulingGated';
  const isInitializing = countInit(summary, pod, sidecars);
  if (!isInitializing || textAt(conditionOf(status, 'Initialized'), 'status') === 'True') {
    countContainers(summary, status, sidecars);
  }
  const phase = textAt(status, 'phase');
  if (!isAbsent(metadataOf(pod), 'deletionTimestamp')) {
    if (textAt(status, 'reason') === 'NodeLost') summary.reason = 'Unknown';
    else if (phase !== 'Failed' && phase !== 'Succeeded') summary.reason = 'Terminating';
  }
  return summary;
}

/** Goes through the init containers up to the one that is not done; true if there is one. */
function countInit(summary: Summary, pod: JsonObject, sidecars: ReadonlySet<string>): boolean {
  const total = objectsAt(specOf(pod), 'initContainers').length;
  for (const [i, container] of objectsAt(statusOf(pod), 'initContainerStatuses').entries()) {
    countRestarts(summary, container);
    const state = objectAt(container, 'state');
    const terminated = objectAt(state, 'terminated');
    if (terminated !== undefined && numberAt(terminated, 'exitCode') === 0) continue;
    if (sidecars.has(textAt(container, 'name')) && flagAt(container, 'started')) {
      if (flagAt(container, 'ready')) summary.ready++;
      continue;
    }
    const waiting = textAt(objectAt(state, 'waiting'), 'reason');
    if (terminated !== undefined) summary.reason = `Init:${endOf(terminated)}`;
    else if (waiting !== '' && waiting !== 'PodInitializing') summary.reason = `Init:${waiting}`;
    else summary.reason = `Init:${i}/${total}`;
    return true;
  }
  return false;
}

function countContainers(summary: Summary, status: JsonObject, sidecars: ReadonlySet<string>): void {
  // From here on only what still runs counts: the sidecars' restarts, and those of the containers proper.
  summary.restarts = 0;
  summary.lastRestart = '';
  for (const container of objectsAt(status, 'initContainerStatuses')) {
    if (sidecars.has(textAt(container, 'name'))) countRestarts(summary, container);
  }
  let runsStill = false;
  for (const container of objectsAt(status, 'containerStatuses').reverse()) {
    countRestarts(summary, container);
    const state = objectAt(container, 'state');
    const waiting = textAt(objectAt(state, 'waiting'), 'reason');
    const terminated = objectAt(state, 'terminated');
    if (waiting !== '') summary.reason = waiting;
    else if (terminated !== undefined) summary.reason = endOf(terminated);
    else if (flagAt(container, 'ready') && objectAt(state, 'running') !== undefined) {
      runsStill = true;
      summary.ready++;
    }
  }
  if (summary.reason === 'Completed' && runsStill) {
    summary.reason = textAt(conditionOf(status, 'Ready'), 'status') === 'True' ? 'Running' : 'NotReady';
  }
}

function countRestarts(summary: Summary, container: JsonObject): void {
  summary.restarts += numberAt(container, 'restartCount');
  const finished = textAt(objectAt(objectAt(container, 'lastState'), 'terminated'), 'finishedAt');
  // Timestamps of one spelling sort as texts.
  if (finished > summary.lastRestart) summary.lastRestart = finished;
}

function endOf(terminated: JsonObject): string {
  const signal = optionalNumberAt(terminated, 'signal') ?? 0;
  const fallback = signal === 0 ? `ExitCode:${numberAt(terminated, 'exitCode')}` : `Signal:${signal}`;
  return textAt(terminated, 'reason') || fallback;
}

const conditionOf = (status: JsonObject, type: string): JsonObject | undefined =>
  objectsAt(status, 'conditions').find((condition) => condition['type'] === type);

function readinessGates(pod: JsonObject): string {
  const gates = objectsAt(specOf(pod), 'readinessGates');
  if (gates.length === 0) return NONE;
  const states = new Map<string, string>();
  for (const condition of objectsAt(statusOf(pod), 'conditions').reverse()) {
    states.set(textAt(condition, 'type'), textAt(condition, 'status'));
  }
  const met = gates.filter((gate) => states.get(textAt(gate, 'conditionType')) === 'True').length;
  return `${met}/${gates.length}`;
}
