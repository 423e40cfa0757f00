import { rm } from 'node:fs/promises';
import { Pod, type PodStatus } from '../../api/core/pod.ts';
import { equalJson, type Json } from '../../api/json.ts';
import { isConflict, isMissing } from '../../runtime/client.ts';
import type { Cancel } from '../../runtime/clock.ts';
import { asError, isFaultOfOurs, type Log } from '../../runtime/log.ts';
import { refOf } from '../../runtime/ref.ts';
import { writeStatus } from '../../runtime/status.ts';
import { isFinished } from '../pod-state.ts';
import { ConfigError } from './container-spec.ts';
import { startContainer } from './container-start.ts';
import { Ending } from './ending.ts';
import type { HostParts } from './host-parts.ts';
import { containerId } from './places.ts';
import type { HostedPod } from './pod-directory.ts';
import { allContainersOf, type ContainerFacts, type Obstacle, type PodFacts, type SandboxFacts } from './pod-facts.ts';
import { type PodPlan, planPod, type Step } from './pod-plan.ts';
import { PodRuns } from './pod-runs.ts';
import { prepareSandbox } from './pod-sandbox.ts';
import { referencesOf } from './references.ts';
import { type ContainerState, type SandboxState, StartError } from './runtime.ts';
import { Tasks } from './tasks.ts';

export interface PodWorkerOptions {
  readonly parts: HostParts;
  readonly pod: Pod;
  /** What an agent before this one left. */
  readonly sandbox: SandboxState | undefined;
  readonly states: readonly ContainerState[];
  /** Nothing of the pod is left on this host. */
  readonly finished: () => void;
}

/**
 * Makes one pod true: looks at how everything is, lets `planPod` decide, and does what it says. Whatever happens, be it a change in
 * the API, the end of a container or of something this worker did itself, only makes it look again.
 */
export class PodWorker implements HostedPod {
  readonly uid: string;
  readonly #parts: HostParts;
  readonly #log: Log;
  readonly #finished: () => void;
  readonly #tasks: Tasks;
  readonly #runs: PodRuns;
  /** Container → why it could not be started lately. */
  readonly #obstacles = new Map<string, Obstacle>();
  /** Run → how it is being ended. */
  readonly #endings = new Map<string, Ending>();
  readonly #cancels: Cancel[] = [];
  readonly #seenAt: number;
  #pod: Pod;
  #state: 'in the API' | 'gone from the API' | 'removed' = 'in the API';
  #sandbox: SandboxFacts;
  #networkNamespace: string | undefined;
  #obstacle: Obstacle | undefined;
  #leavingSince: number | undefined;
  #alarm: Cancel | undefined;
  #isLooking = false;
  #isStopped = false;

  constructor({ parts, pod, sandbox, states, finished }: PodWorkerOptions) {
    this.#parts = parts;
    this.#pod = pod;
    this.uid = pod.metadata.uid;
    this.#log = parts.log.with({ pod: `${pod.metadata.namespace}/${pod.metadata.name}` });
    this.#finished = finished;
    this.#tasks = new Tasks({ system: parts.system, changed: () => this.look() });
    this.#runs = new PodRuns(parts.places, pod, states);
    this.#seenAt = Date.parse(pod.status?.startTime ?? '') || parts.system.now();
    const address = parts.addresses.of(this.uid);
    this.#sandbox = {
      state: sandbox === undefined ? 'absent' : 'ready',
      podIPs: address === undefined ? [] : [address],
      volumes: true,
    };
    this.#networkNamespace = sandbox?.networkNamespace;
    if (!isFinished(pod)) this.#follow();
    this.look();
  }

  get pod(): Pod {
    return this.#pod;
  }

  get containers(): readonly string[] {
    return allContainersOf(this.#pod).map(({ name }) => name);
  }

  get networkNamespace(): string | undefined {
    return this.#networkNamespace;
  }

  container(name: string): ReturnType<HostedPod['container']> {
    return this.#runs.statesOf(name);
  }

  become(pod: Pod): void {
    if (isOlder(pod, this.#pod)) return;
    this.#pod = pod;
    this.#tasks.hurry('status');
    this.look();
  }

  /** The API has it no more. */
  vanish(): void {
    const wasRemoved = this.#state === 'removed';
    this.#state = 'gone from the API';
    if (wasRemoved) this.#finished();
    this.#tasks.hurry('remove');
    this.look();
  }

  containerChanged(state: ContainerState): void {
    this.#runs.note(state);
    if (state.phase === 'ended') {
      this.#endings.get(state.id)?.stop();
      this.#endings.delete(state.id);
    }
    this.look();
  }

  /** Plans anew, soon. */
  look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    queueMicrotask(() => {
      this.#isLooking = false;
      if (!this.#isStopped) this.#pass();
    });
  }

  /** Leaves everything as it is. */
  async stop(): Promise<void> {
    this.#quit();
    for (const ending of this.#endings.values()) ending.stop();
    await this.#tasks.stop();
  }

  #quit(): void {
    this.#isStopped = true;
    this.#alarm?.();
    this.#unfollow();
  }

  #follow(): void {
    const { references } = this.#parts;
    for (const reference of referencesOf(this.#pod)) {
      this.#cancels.push(references.follow(reference, () => this.#referenceChanged()));
    }
  }

  #unfollow(): void {
    for (const cancel of this.#cancels.splice(0)) cancel();
  }

  #referenceChanged(): void {
    for (const name of this.#obstacles.keys()) this.#tasks.hurry(`start ${name}`);
    this.look();
  }

  #pass(): void {
    const facts = this.#facts();
    const plan = planPod(facts);
    if (plan.leaving) this.#leavingSince ??= facts.now;
    this.#write(plan.status);
    for (const step of plan.steps) this.#take(step, plan);
    this.#alarm?.();
    const { wakeAt } = plan;
    this.#alarm =
      wakeAt === undefined ? undefined : this.#parts.system.timer(Math.max(0, wakeAt - facts.now), () => this.look());
  }

  #facts(): PodFacts {
    const { system, hostAddresses } = this.#parts;
    return {
      pod: this.#pod,
      gone: this.#state === 'gone from the API',
      now: system.now(),
      seenAt: this.#seenAt,
      leavingSince: this.#leavingSince,
      sandbox: this.#sandbox,
      hostIPs: hostAddresses(),
      obstacle: this.#obstacle,
      containers: new Map(this.containers.map((name) => [name, this.#containerFacts(name)])),
    };
  }

  #containerFacts(name: string): ContainerFacts {
    const runs = this.#runs.of(name);
    return {
      runs,
      starting: this.#tasks.isUnderWay(`start ${name}`),
      ending: this.#endings.has(runs.at(-1)?.id ?? ''),
      obstacle: this.#obstacles.get(name),
      probed: { started: true, ready: true },
      unfit: undefined,
    };
  }

  #write(status: PodStatus): void {
    if (this.#state === 'gone from the API' || says(this.#pod, status)) return;
    this.#tasks.begin('status', async () => {
      try {
        this.become(await writeStatus(this.#parts.client, Pod, this.#pod, status));
      } catch (error) {
        // Somebody has changed it meanwhile, or taken it away: the watch brings what is true.
        throw isConflict(error) || isMissing(error) ? error : this.#failure('cannot write the status', error);
      }
    });
  }

  #take(step: Step, { status }: PodPlan): void {
    switch (step.do) {
      case 'prepare':
        this.#tasks.begin('prepare', () => this.#prepare());
        break;
      case 'start':
        this.#tasks.begin(`start ${step.container.name}`, () => this.#start(step));
        break;
      case 'end':
        this.#end(step);
        break;
      case 'forget':
        this.#tasks.begin(`forget ${step.run}`, () => this.#forget(step.run));
        break;
      default:
        // Not while something is being made, and only after everybody could read how it ended.
        if (this.#tasks.isUnderWay('prepare')) return;
        if (this.#state === 'in the API' && !says(this.#pod, status)) return;
        this.#tasks.begin(step.do, () => (step.do === 'release' ? this.#release() : this.#remove()));
    }
  }

  async #forget(run: string): Promise<void> {
    await this.#parts.runtime.removeContainer(run);
    this.#runs.forget(run);
  }

  async #prepare(): Promise<void> {
    try {
      const { networkNamespace, podIPs } = await this.#parts.gate.through(() => prepareSandbox(this.#parts, this.#pod));
      this.#networkNamespace = networkNamespace;
      this.#sandbox = { ...this.#sandbox, state: 'ready', podIPs };
      this.#obstacle = undefined;
    } catch (error) {
      const message = `Failed to create pod sandbox: ${asError(error).message}`;
      this.#obstacle = { reason: 'FailedCreatePodSandBox', message };
      this.#parts.events.warning(this.#pod, 'FailedCreatePodSandBox', message);
      throw this.#failure('cannot prepare the pod', error);
    }
  }

  async #start({ container, attempt, backoff }: Extract<Step, { do: 'start' }>): Promise<void> {
    const { events, system } = this.#parts;
    const { name } = container;
    try {
      const state = await startContainer(this.#parts, {
        ...{ pod: this.#pod, container, attempt, backoff },
        podIPs: this.#sandbox.podIPs,
      });
      this.#obstacles.delete(name);
      this.#runs.note(state);
      events.normal(this.#pod, 'Created', `Created container: ${name}`);
      events.normal(this.#pod, 'Started', `Started container ${name}`);
    } catch (error) {
      const { message } = asError(error);
      events.warning(this.#pod, 'Failed', `Error: ${message}`);
      if (error instanceof StartError) {
        this.#obstacles.delete(name);
        this.#runs.failed(name, { id: containerId(this.uid, name, attempt), attempt, backoff }, error, system.now());
        return;
      }
      const reason = error instanceof ConfigError ? error.reason : 'CreateContainerError';
      this.#obstacles.set(name, { reason, message });
      throw error instanceof ConfigError ? error : this.#failure(`cannot start container ${name}`, error);
    }
  }

  #end({ run, graceMs, message }: Extract<Step, { do: 'end' }>): void {
    const known = this.#endings.get(run);
    if (known !== undefined) {
      known.hurry(graceMs);
      return;
    }
    const { system, runtime, events } = this.#parts;
    events.normal(this.#pod, 'Killing', message);
    this.#endings.set(run, new Ending({ system, graceMs, send: (signal) => runtime.signal(run, signal) }));
  }

  /** Its address and its network are of no use to anybody any more; who asks for its logs shall have them. */
  async #release(): Promise<void> {
    const { network, addresses } = this.#parts;
    await network.detach(this.uid);
    addresses.release(this.uid);
    this.#unfollow();
    this.#sandbox = { ...this.#sandbox, state: 'released' };
  }

  async #remove(): Promise<void> {
    const { runtime, network, addresses, places, client } = this.#parts;
    try {
      await runtime.removeSandbox(this.uid);
      await network.detach(this.uid);
      addresses.release(this.uid);
      await rm(places.pod(this.uid), { recursive: true, force: true });
      await rm(places.podLogs(this.#pod), { recursive: true, force: true });
      if (this.#state === 'in the API') {
        await client.delete(Pod, refOf(this.#pod), { uid: this.uid, gracePeriodSeconds: 0 });
      }
    } catch (error) {
      // Another pod may have its name by now: then it is gone.
      if (!isConflict(error)) throw this.#failure('cannot remove the pod', error);
    }
    this.#quit();
    if (this.#state === 'gone from the API') this.#finished();
    this.#state = 'removed';
  }

  #failure(what: string, thrown: unknown): Error {
    const error = asError(thrown);
    this.#log[isFaultOfOurs(error) ? 'error' : 'warn'](`${what}; will try again`, { error });
    return error;
  }
}

function isOlder(pod: Pod, than: Pod): boolean {
  const [version, known] = [pod.metadata.resourceVersion, than.metadata.resourceVersion];
  return /^\d+$/.test(version) && /^\d+$/.test(known) && BigInt(version) < BigInt(known);
}

const says = (pod: Pod, status: PodStatus): boolean => equalJson(plain(pod.status), plain(status));

/** As it is on the wire. */
const plain = (status: PodStatus | undefined): Json => JSON.parse(JSON.stringify(status ?? {})) as Json;
