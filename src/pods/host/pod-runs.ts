import { statSync } from 'node:fs';
import type { Container, Pod } from '../../api/core/pod.ts';
import { containerId, type Places } from './places.ts';
import { allContainersOf } from './pod-facts.ts';
import { namesIn } from './pod-remains.ts';
import { failedRun, lostRun, type Run, remembered, runOf } from './runs.ts';
import type { ContainerState } from './runtime.ts';
import { terminationMessage } from './termination-message.ts';

/** Every start of every container of a pod that is known here. */
export class PodRuns {
  readonly #places: Places;
  readonly #pod: Pod;
  readonly #runs = new Map<string, Run[]>();
  readonly #states = new Map<string, ContainerState>();

  /** @param states what the runtime has of the pod */
  constructor(places: Places, pod: Pod, states: readonly ContainerState[]) {
    this.#places = places;
    this.#pod = pod;
    for (const state of states) this.note(state);
    for (const { name } of allContainersOf(pod)) this.#remember(name);
  }

  /** Oldest first. */
  of(container: string): readonly Run[] {
    return this.#runs.get(container) ?? [];
  }

  statesOf(container: string): { current: ContainerState | undefined; previous: ContainerState | undefined } {
    const states = this.of(container).flatMap(({ id }) => this.#states.get(id) ?? []);
    return { current: states.at(-1), previous: states.at(-2) };
  }

  note(state: ContainerState): void {
    // The answer to a start may be older than what was heard since.
    if (this.#states.get(state.id)?.phase === 'ended' && state.phase === 'running') return;
    this.#states.set(state.id, state);
    const container = allContainersOf(this.#pod).find(({ name }) => name === state.name);
    const message =
      state.phase === 'running' || container === undefined ? undefined : this.#messageOf(container, state);
    this.#put(state.name, runOf(state, message));
  }

  failed(
    container: string,
    run: Pick<Run, 'id' | 'attempt' | 'backoff'>,
    why: { reason: string; message: string },
    at: number,
  ): void {
    this.#put(container, failedRun(run, why, at));
  }

  forget(id: string): void {
    this.#states.delete(id);
    for (const [name, runs] of this.#runs) {
      this.#runs.set(
        name,
        runs.filter((run) => run.id !== id),
      );
    }
  }

  /** What ran them is gone, and with it all that it knew. */
  lose(): void {
    for (const [name, runs] of this.#runs) this.#runs.set(name, runs.map(lostRun));
  }

  #messageOf(container: Container, state: ContainerState): string | undefined {
    const file = this.#places.terminationMessage(this.#pod.metadata.uid, state.name, state.attempt);
    return terminationMessage(container, state, file);
  }

  #put(container: string, run: Run): void {
    const others = this.of(container).filter(({ attempt }) => attempt !== run.attempt);
    this.#runs.set(
      container,
      [...others, run].sort((a, b) => a.attempt - b.attempt),
    );
  }

  /** What the status and the logs know of starts that the runtime has forgotten, as when the host was started anew. */
  #remember(name: string): void {
    const { initContainerStatuses = [], containerStatuses = [] } = this.#pod.status ?? {};
    const status = [...initContainerStatuses, ...containerStatuses].find((each) => each.name === name);
    for (const run of [remembered(status), this.#logged(name)]) {
      if (run !== undefined && run.attempt > (this.of(name).at(-1)?.attempt ?? -1)) this.#put(name, run);
    }
  }

  /** The last start may not have come to be in the status; its log tells that there was one. */
  #logged(name: string): Run | undefined {
    const file = (attempt: number): string => this.#places.log(this.#pod, name, attempt);
    const attempts = namesIn(this.#places.containerLogs(this.#pod, name)).flatMap((log) => {
      const [, number] = /^(\d+)\.log(?:\.\d+)?$/.exec(log) ?? [];
      return number === undefined ? [] : [Number(number)];
    });
    if (attempts.length === 0) return undefined;
    const attempt = Math.max(...attempts);
    const startedAt = statSync(file(attempt), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const id = containerId(this.#pod.metadata.uid, name, attempt);
    return lostRun({ id, attempt, startedAt, backoff: 0, past: true });
  }
}
