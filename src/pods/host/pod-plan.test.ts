import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Container, Pod } from '../../api/core/pod.ts';
import { isFinished } from '../pod-state.ts';
import {
  allContainersOf,
  type ContainerFacts,
  factsOf,
  initContainersOf,
  isAlive,
  isRunning,
  isSidecar,
  latestRun,
  type PodFacts,
} from './pod-facts.ts';
import { planPod, type Step } from './pod-plan.ts';
import { restartAt } from './restart-backoff.ts';
import type { Run } from './runs.ts';

const NOW = Date.UTC(2026, 0, 1);

const runs = fc
  .array(
    fc.record({
      age: fc.integer({ min: 0, max: 2_000_000 }),
      lasted: fc.integer({ min: 0, max: 1_000_000 }),
      exitCode: fc.constantFrom(0, 1, 137),
      backoff: fc.constantFrom(0, 10_000, 160_000, 300_000),
      past: fc.boolean(),
    }),
    { maxLength: 4 },
  )
  .chain((ends) =>
    fc.boolean().map((isRunning) => ends.map((end, i) => runOf(end, i, isRunning && i === ends.length - 1))),
  );

function runOf(
  {
    age,
    lasted,
    exitCode,
    backoff,
    past,
  }: { age: number; lasted: number; exitCode: number; backoff: number; past: boolean },
  attempt: number,
  runs: boolean,
): Run {
  const startedAt = NOW - age - lasted;
  const run = { id: `${attempt}`, attempt, startedAt, backoff, past: past && !runs };
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return runs ? run : { ...run, end: { at: startedAt + lasted, exitCode, reason } };
}

const containerFacts: fc.Arbitrary<ContainerFacts> = fc.record({
  runs,
  starting: fc.boolean(),
  ending: fc.boolean(),
  obstacle: fc.constantFrom(undefined, { reason: 'CreateContainerConfigError', message: 'no such thing' }),
  probed: fc.record({ started: fc.boolean(), ready: fc.boolean() }),
  unfit: fc.constantFrom(undefined, { message: 'Container x failed liveness probe, will be restarted' }),
});

const podFacts: fc.Arbitrary<PodFacts> = fc
  .record({
    init: fc.array(fc.boolean(), { maxLength: 3 }),
    count: fc.integer({ min: 1, max: 3 }),
    restartPolicy: fc.constantFrom('Always' as const, 'OnFailure' as const, 'Never' as const),
    deadline: fc.option(fc.integer({ min: 1, max: 100 })),
    deleted: fc.boolean(),
    phase: fc.constantFrom('Pending' as const, 'Running' as const, 'Succeeded' as const, 'Failed' as const),
    gone: fc.boolean(),
    seenAt: fc.integer({ min: 0, max: 200_000 }).map((age) => NOW - age),
    leavingSince: fc.option(
      fc.integer({ min: 0, max: 60_000 }).map((age) => NOW - age),
      { nil: undefined },
    ),
    sandbox: fc.record({
      state: fc.constantFrom('absent' as const, 'ready' as const, 'ready' as const, 'released' as const),
      podIPs: fc.constant(['10.244.7.1']),
      volumes: fc.boolean(),
    }),
    known: fc.array(containerFacts, { minLength: 6, maxLength: 6 }),
  })
  .map(({ init, count, restartPolicy, deadline, deleted, phase, gone, seenAt, leavingSince, sandbox, known }) => {
    const initContainers = init.map((isSidecar, i): Container => {
      return { name: `init-${i}`, ...(isSidecar ? { restartPolicy: 'Always' as const } : {}) };
    });
    const containers = Array.from({ length: count }, (_, i): Container => ({ name: `main-${i}` }));
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...{ name: 'web', namespace: 'default', uid: 'uid', resourceVersion: '1', creationTimestamp: '' },
        ...(deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 } : {}),
      },
      spec: {
        restartPolicy,
        initContainers,
        containers,
        ...(deadline === null ? {} : { activeDeadlineSeconds: deadline }),
      },
      status: { phase },
    };
    const names = allContainersOf(pod).map(({ name }) => name);
    const facts = new Map(names.flatMap((name, i) => (known[i] === undefined ? [] : [[name, known[i]] as const])));
    return {
      pod,
      gone,
      now: NOW,
      seenAt,
      leavingSince,
      admission: 'granted',
      eviction: undefined,
      sandbox,
      hostIPs: ['192.0.2.7'],
      obstacle: undefined,
      containers: facts,
    };
  });

const starts = (steps: readonly Step[]) => steps.flatMap((step) => (step.do === 'start' ? [step] : []));
const ends = (steps: readonly Step[]) => steps.flatMap((step) => (step.do === 'end' ? [step] : []));

/** Whatever is known of a pod, this holds for what is done next. */
const holds = (property: (facts: PodFacts, plan: ReturnType<typeof planPod>) => void): void =>
  fc.assert(
    fc.property(podFacts, (facts) => property(facts, planPod(facts))),
    { numRuns: 2_000 },
  );

test('nothing is started that may be alive', () => {
  holds((facts, { steps }) => {
    for (const { container } of starts(steps)) assert.equal(isAlive(factsOf(facts, container.name)), false);
  });
});

test('every start is a new attempt, and waits as long as the last one has to', () => {
  holds((facts, { steps }) => {
    for (const { container, attempt } of starts(steps)) {
      const run = latestRun(factsOf(facts, container.name));
      assert.equal(attempt, run === undefined ? 0 : run.attempt + 1);
      assert.ok(run === undefined || restartAt(run) <= facts.now);
    }
  });
});

test('nothing of a pod is started that is deleted, finished or past its deadline', () => {
  holds((facts, { steps, leaving }) => {
    const { metadata, status, spec } = facts.pod;
    const late = facts.seenAt + (spec.activeDeadlineSeconds ?? 1e9) * 1000 <= facts.now;
    const isFinished = status?.phase === 'Succeeded' || status?.phase === 'Failed';
    if (!(facts.gone || metadata.deletionTimestamp !== undefined || isFinished || late)) return;
    assert.ok(leaving);
    assert.deepEqual(starts(steps), []);
    assert.equal(
      steps.some((step) => step.do === 'prepare'),
      false,
    );
  });
});

test('what runs of such a pod is ended, sidecars after all others, and only then is it released or removed', () => {
  holds((facts, { steps, leaving }) => {
    if (!leaving) return;
    const { pod } = facts;
    const sidecars = initContainersOf(pod).filter(isSidecar);
    const alive = allContainersOf(pod).filter(({ name }) => isAlive(factsOf(facts, name)));
    const others = alive.filter((container) => !sidecars.includes(container));
    const ended = ends(steps).map(({ container }) => container);
    const running = (containers: readonly Container[]) =>
      containers.filter(({ name }) => isRunning(factsOf(facts, name)));
    assert.deepEqual(ended, running(others.length > 0 ? others : alive.slice(-1)));
    const isOver = steps.some((step) => step.do === 'release' || step.do === 'remove');
    if (isOver) assert.deepEqual(alive, []);
    if (alive.length === 0 && (facts.gone || pod.metadata.deletionTimestamp !== undefined)) {
      assert.ok(steps.some((step) => step.do === 'remove'));
    }
  });
});

test('an init container is started only when all before it are through, and the others when all of them are', () => {
  holds((facts, { steps }) => {
    const { pod } = facts;
    const hasBegun = pod.spec.containers.some(({ name }) => {
      const known = factsOf(facts, name);
      return known.starting || known.runs.some(({ past }) => !past);
    });
    if (hasBegun) return;
    const order = allContainersOf(pod);
    for (const { container } of starts(steps)) {
      const before = order.slice(0, order.indexOf(container)).filter((each) => initContainersOf(pod).includes(each));
      for (const each of before) {
        const known = factsOf(facts, each.name);
        const run = latestRun(known);
        const isThrough = isSidecar(each)
          ? isRunning(known) && known.probed.started
          : run?.end?.exitCode === 0 && !run.past;
        assert.ok(isThrough, `${container.name} is started before ${each.name} is through`);
      }
    }
  });
});

test('what may not be restarted is not', () => {
  holds((facts, { steps }) => {
    const { restartPolicy, containers } = facts.pod.spec;
    for (const { container } of starts(steps)) {
      if (!containers.includes(container)) continue;
      const end = latestRun(factsOf(facts, container.name))?.end;
      if (end === undefined) continue;
      assert.notEqual(restartPolicy, 'Never');
      assert.ok(restartPolicy === 'Always' || end.exitCode !== 0);
    }
  });
});

test('nothing is done and nothing is said of a pod before it may begin', () => {
  holds((facts) => {
    const { steps, status, leaving } = planPod({ ...facts, admission: 'awaited' });
    if (leaving) return;
    assert.deepEqual(steps, []);
    assert.deepEqual(status, facts.pod.status);
  });
});

test('a pod that may not begin fails with the reason', () => {
  const admission = { reason: 'OutOfcpu', message: 'too little of it' };
  holds((facts) => {
    const { steps, status, leaving, refusal } = planPod({ ...facts, admission });
    assert.ok(leaving);
    assert.deepEqual(starts(steps), []);
    if (isFinished(facts.pod)) return assert.equal(refusal, undefined);
    assert.deepEqual(refusal, admission);
    if (allContainersOf(facts.pod).some(({ name }) => isAlive(factsOf(facts, name)))) return;
    const { phase, reason, message } = status;
    assert.deepEqual([phase, reason, message], ['Failed', 'OutOfcpu', 'Pod was rejected: too little of it']);
  });
});

test('a container that is put off is looked at again when its time comes', () => {
  holds((facts, { backingOff, wakeAt, leaving }) => {
    for (const name of backingOff) {
      const run = latestRun(factsOf(facts, name));
      assert.ok(run !== undefined && restartAt(run) > facts.now && wakeAt !== undefined && wakeAt <= restartAt(run));
    }
    if (leaving) assert.equal(wakeAt, undefined);
    assert.ok(wakeAt === undefined || wakeAt > facts.now);
  });
});

test('a pod that has finished stays so, and one that runs is not called finished', () => {
  holds((facts, { status, leaving }) => {
    const { phase } = facts.pod.status ?? {};
    if (phase === 'Succeeded' || phase === 'Failed') assert.equal(status.phase, phase);
    else if (!leaving) assert.ok(status.phase === 'Pending' || status.phase === 'Running');
    if (status.phase === 'Succeeded' && phase !== 'Succeeded') {
      for (const { name } of facts.pod.spec.containers) {
        assert.equal(latestRun(factsOf(facts, name))?.end?.exitCode, 0);
      }
    }
  });
});

test('a pod is ready when all of it is, and says the same when asked again', () => {
  holds((facts, { status }) => {
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    const all = [...(status.containerStatuses ?? [])];
    if (ready?.status === 'True') assert.ok(all.every((each) => each.ready && each.state?.running !== undefined));
    const again = planPod({ ...facts, pod: { ...facts.pod, status } });
    assert.deepEqual(again.status, status);
  });
});
