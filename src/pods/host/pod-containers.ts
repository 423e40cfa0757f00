import type { Container, Pod } from '../../api/core/pod.ts';
import { asError } from '../../runtime/log.ts';
import { check } from './checks/check.ts';
import type { Outcome } from './checks/outcome.ts';
import { ConfigError } from './container-spec.ts';
import { startContainer } from './container-start.ts';
import { Ending } from './ending.ts';
import type { HostParts } from './host-parts.ts';
import { limitWarnings } from './limit-warnings.ts';
import { containerId } from './places.ts';
import type { HostedPod } from './pod-directory.ts';
import { allContainersOf, type ContainerFacts, type Obstacle, type PodFacts, type Unfit } from './pod-facts.ts';
import type { Step } from './pod-plan.ts';
import { PodRuns } from './pod-runs.ts';
import { PodProbes, type ProbeWish, probesOf } from './probes/pod-probes.ts';
import { type ContainerState, StartError } from './runtime.ts';
import type { Tasks } from './tasks.ts';
import type { PodVolumes } from './volumes/pod-volumes.ts';

export interface PodContainersOptions {
  readonly parts: HostParts;
  readonly pod: () => Pod;
  readonly podIPs: () => readonly string[];
  readonly volumes: PodVolumes;
  readonly tasks: Tasks;
  /** What the runtime has of them. */
  readonly states: readonly ContainerState[];
  readonly changed: () => void;
  readonly sandboxLost: () => void;
}

/** The containers of one pod: what is known of each, and what is being done about it. */
export class PodContainers {
  readonly #options: PodContainersOptions;
  readonly #runs: PodRuns;
  readonly #probes: PodProbes;
  /** Container → why it could not be started lately. */
  readonly #obstacles = new Map<string, Obstacle>();
  /** Containers that need not be tried before something they refer to has changed. */
  readonly #waiting = new Set<string>();
  /** Container → the start that was tried last. */
  readonly #attempts = new Map<string, number>();
  /** Run → how it is being ended. */
  readonly #endings = new Map<string, Ending>();
  /** Run → ends its postStart hook. */
  readonly #hooks = new Map<string, AbortController>();
  /** Run → why it cannot go on, from its postStart hook. */
  readonly #misbegun = new Map<string, Unfit>();

  readonly #warnings = new Set<string>();

  constructor(options: PodContainersOptions) {
    this.#options = options;
    const { parts, pod, states, changed, podIPs } = options;
    this.#runs = new PodRuns(parts.places, pod(), states);
    this.#probes = new PodProbes({
      tools: parts,
      podIP: () => podIPs()[0] ?? '',
      failed: (wish, outcome) => this.#probeFailed(wish, outcome),
      changed,
    });
    for (const state of states) this.#takeOver(state);
  }

  facts(): PodFacts['containers'] {
    return new Map(allContainersOf(this.#options.pod()).map((each) => [each.name, this.#factsOf(each)]));
  }

  statesOf(name: string): ReturnType<HostedPod['container']> {
    return this.#runs.statesOf(name);
  }

  changed(state: ContainerState): void {
    this.#runs.note(state);
    this.#warn(state);
    if (state.phase !== 'ended') return;
    this.#endings.get(state.id)?.stop();
    this.#endings.delete(state.id);
    this.#hooks.get(state.id)?.abort();
    this.#misbegun.delete(state.id);
    this.#probes.forget(state.id);
  }

  /** What they refer to may be there now. */
  referenceChanged(): void {
    this.#waiting.clear();
    for (const name of this.#obstacles.keys()) this.#options.tasks.hurry(startTask(name));
  }

  start(step: Extract<Step, { do: 'start' }>): void {
    const { name } = step.container;
    if (!this.#waiting.has(name)) this.#options.tasks.begin(startTask(name), () => this.#start(step));
  }

  end({ container, run, graceMs, message }: Extract<Step, { do: 'end' }>): void {
    const known = this.#endings.get(run);
    if (known !== undefined) {
      known.hurry(graceMs);
      return;
    }
    const { parts, pod } = this.#options;
    const { system, runtime, events } = parts;
    events.normal(pod(), 'Killing', message);
    this.#hooks.get(run)?.abort();
    const { preStop } = container.lifecycle ?? {};
    const before = preStop === undefined ? undefined : (giveUp: AbortSignal) => this.#preStop(container, run, giveUp);
    this.#endings.set(run, new Ending({ system, graceMs, send: (signal) => runtime.signal(run, signal), before }));
  }

  forget(run: string): void {
    this.#options.tasks.begin(`forget ${run}`, async () => {
      await this.#options.parts.runtime.removeContainer(run);
      this.#runs.forget(run);
    });
  }

  /** Asks the probes that make sense now. */
  probe(leaving: boolean): void {
    const wishes = allContainersOf(this.#options.pod()).flatMap((container) => {
      const { runs, starting, ending, unfit, probed } = this.#factsOf(container);
      const run = runs.at(-1);
      if (run === undefined || run.end !== undefined || starting || unfit !== undefined) return [];
      return probesOf(container, run, probed, leaving || ending);
    });
    this.#probes.ask(wishes);
  }

  /** Leaves them as they are. */
  stop(): void {
    this.#probes.ask([]);
    for (const ending of this.#endings.values()) ending.stop();
    for (const hook of this.#hooks.values()) hook.abort();
  }

  #factsOf(container: Container): ContainerFacts {
    const runs = this.#runs.of(container.name);
    const id = runs.at(-1)?.id ?? '';
    const isUnderWay = this.#options.tasks.isUnderWay(startTask(container.name));
    const hasBegun = runs.at(-1)?.attempt === this.#attempts.get(container.name);
    return {
      runs,
      starting: isUnderWay && !(hasBegun && container.lifecycle?.postStart === undefined),
      ending: this.#endings.has(id),
      obstacle: this.#obstacles.get(container.name),
      probed: this.#probes.probed(container, id),
      unfit: this.#probes.unfit(container, id) ?? this.#misbegun.get(id),
    };
  }

  /** What the agent before us has found out of a container that still runs holds until our own probes say otherwise. */
  #takeOver({ id, name, phase }: ContainerState): void {
    if (phase !== 'running') return;
    const { initContainerStatuses = [], containerStatuses = [] } = this.#options.pod().status ?? {};
    const status = [...initContainerStatuses, ...containerStatuses].find((each) => each.name === name);
    if (status?.containerID?.endsWith(id) !== true) return;
    this.#probes.know(id, { ...(status.started === true ? { startup: true } : {}), readiness: status.ready });
  }

  /** Of each thing once: a container that is started again finds the same host. */
  #warn(state: ContainerState): void {
    const { pod, parts } = this.#options;
    for (const { reason, message } of limitWarnings(pod(), state)) {
      if (this.#warnings.has(message)) continue;
      this.#warnings.add(message);
      parts.events.warning(pod(), reason, message);
    }
  }

  async #start({ container, attempt, backoff }: Extract<Step, { do: 'start' }>): Promise<void> {
    const { parts, pod, podIPs, volumes } = this.#options;
    const { events, system } = parts;
    const { name } = container;
    this.#attempts.set(name, attempt);
    try {
      const wish = { pod: pod(), container, attempt, backoff, podIPs: podIPs(), volumes };
      const state = await startContainer(parts, wish);
      this.#obstacles.delete(name);
      this.#runs.note(state);
      events.normal(pod(), 'Created', `Created container: ${name}`);
      events.normal(pod(), 'Started', `Started container ${name}`);
      this.#warn(state);
    } catch (error) {
      const { message } = asError(error);
      events.warning(pod(), 'Failed', `Error: ${message}`);
      if (error instanceof StartError && error.reason !== 'CreateContainerError') {
        const run = { id: containerId(pod().metadata.uid, name, attempt), attempt, backoff };
        this.#obstacles.delete(name);
        this.#runs.failed(name, run, { reason: 'StartError', message }, system.now());
        return;
      }
      if (error instanceof StartError) await this.#lookForSandbox();
      const isAsDescribed = error instanceof ConfigError;
      this.#obstacles.set(name, { reason: isAsDescribed ? error.reason : 'CreateContainerError', message });
      if (!isAsDescribed) throw error;
      this.#waiting.add(name);
      return;
    }
    await this.#postStart(container, containerId(pod().metadata.uid, name, attempt));
  }

  /** With whatever ran them, their sandbox may be gone. */
  async #lookForSandbox(): Promise<void> {
    const { parts, pod, sandboxLost } = this.#options;
    const { sandboxes } = await parts.runtime.list();
    if (sandboxes.some(({ id }) => id === pod().metadata.uid)) return;
    this.#runs.lose();
    sandboxLost();
  }

  async #postStart(container: Container, run: string): Promise<void> {
    const { postStart } = container.lifecycle ?? {};
    if (postStart === undefined) return;
    const { parts, pod, changed } = this.#options;
    const giveUp = new AbortController();
    this.#hooks.set(run, giveUp);
    changed();
    const outcome = await check(parts, this.#target(container, run), postStart, { giveUp: giveUp.signal });
    this.#hooks.delete(run);
    if (outcome.ok || giveUp.signal.aborted) return;
    const message = `PostStartHook of container ${container.name} failed: ${outcome.message}`;
    parts.events.warning(pod(), 'FailedPostStartHook', message);
    this.#misbegun.set(run, { message: `Container ${container.name} failed its postStart hook, will be restarted` });
  }

  async #preStop(container: Container, run: string, giveUp: AbortSignal): Promise<void> {
    const { preStop } = container.lifecycle ?? {};
    if (preStop === undefined) return;
    const { parts, pod } = this.#options;
    const outcome = await check(parts, this.#target(container, run), preStop, { giveUp });
    if (outcome.ok || !this.#endings.has(run)) return;
    const message = `PreStopHook of container ${container.name} failed: ${outcome.message}`;
    parts.events.warning(pod(), 'FailedPreStopHook', message);
  }

  #target(container: Container, containerId: string) {
    return { containerId, container, podIP: this.#options.podIPs()[0] ?? '' };
  }

  #probeFailed({ kind }: ProbeWish, { message }: Outcome): void {
    const { parts, pod } = this.#options;
    const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
    parts.events.warning(pod(), 'Unhealthy', `${name} probe failed: ${message}`);
  }
}

const startTask = (container: string): string => `start ${container}`;
