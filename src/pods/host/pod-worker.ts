import path from 'node:path';
import { Pod, type PodStatus } from '../../api/core/pod.ts';
import { equalJson } from '../../api/json.ts';
import { isConflict, isMissing } from '../../runtime/client.ts';
import type { Cancel } from '../../runtime/clock.ts';
import { asError, isFaultOfOurs, type Log } from '../../runtime/log.ts';
import { refOf } from '../../runtime/ref.ts';
import { saysStatus, writeStatus } from '../../runtime/status.ts';
import { isFinished } from '../pod-state.ts';
import type { HostParts } from './host-parts.ts';
import { PodContainers } from './pod-containers.ts';
import type { HostedPod } from './pod-directory.ts';
import {
  type Admission,
  allContainersOf,
  type Eviction,
  type Obstacle,
  type PodFacts,
  type SandboxFacts,
} from './pod-facts.ts';
import { type PodPlan, planPod, type Step } from './pod-plan.ts';
import { removeFolder } from './pod-remains.ts';
import { heldAddresses, prepareSandbox } from './pod-sandbox.ts';
import { type Reference, referencesOf } from './references.ts';
import type { ContainerState, SandboxState } from './runtime.ts';
import { type StorageLimit, storageLimitsOf } from './storage/storage-limits.ts';
import type { EvictedFor } from './storage/storage-watch.ts';
import { Tasks } from './tasks.ts';
import { PodVolumes } from './volumes/pod-volumes.ts';
import { VolumeFault } from './volumes/volume-fault.ts';

export interface PodWorkerOptions {
  readonly parts: HostParts;
  readonly pod: Pod;
  /** What an agent before this one left. */
  readonly sandbox: SandboxState | undefined;
  readonly states: readonly ContainerState[];
  readonly admission: Admission;
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
  readonly #volumes: PodVolumes;
  readonly #containers: PodContainers;
  readonly #references: readonly Reference[];
  readonly #cancels: Cancel[] = [];
  readonly #seenAt: number;
  #pod: Pod;
  #state: 'in the API' | 'gone from the API' | 'removed' = 'in the API';
  #sandbox: SandboxFacts;
  #networkNamespace: string | undefined;
  /** What the volumes are made of has changed since they were. */
  #areVolumesDue = true;
  /** Task → why it has not succeeded yet. */
  readonly #obstacles = new Map<'sandbox' | 'volumes', Obstacle>();
  #leavingSince: number | undefined;
  #admission: Admission;
  #eviction: Eviction | undefined;
  #backingOff: ReadonlySet<string> = new Set();
  #alarm: Cancel | undefined;
  #isLooking = false;
  #isStopped = false;

  constructor({ parts, pod, sandbox, states, admission, finished }: PodWorkerOptions) {
    this.#parts = parts;
    this.#admission = admission;
    this.#pod = pod;
    this.uid = pod.metadata.uid;
    this.#log = parts.log.with({ pod: `${pod.metadata.namespace}/${pod.metadata.name}` });
    this.#finished = finished;
    this.#tasks = new Tasks({ system: parts.system, changed: () => this.look() });
    this.#volumes = new PodVolumes(parts);
    this.#sandbox = {
      state: sandbox === undefined ? 'absent' : 'ready',
      podIPs: heldAddresses(parts, pod),
      volumes: false,
    };
    this.#networkNamespace = sandbox?.networkNamespace;
    this.#containers = new PodContainers({
      ...{ parts, states, volumes: this.#volumes, tasks: this.#tasks },
      pod: () => this.#pod,
      podIPs: () => this.#podIPs,
      changed: () => this.look(),
      sandboxLost: () => this.#sandboxLost(),
    });
    this.#seenAt = Date.parse(pod.status?.startTime ?? '') || parts.system.now();
    this.#references = isFinished(pod) ? [] : referencesOf(pod);
    for (const reference of this.#references) {
      this.#cancels.push(parts.references.follow(reference, () => this.#referenceChanged()));
    }
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
    const { initContainerStatuses = [], containerStatuses = [] } = this.#pod.status ?? {};
    const status = [...initContainerStatuses, ...containerStatuses].find((each) => each.name === name);
    const { waiting, terminated } = status?.state ?? {};
    return { ...this.#containers.statesOf(name), waiting: waiting?.reason ?? terminated?.reason };
  }

  get storageLimits(): StorageLimit[] {
    if (this.#leavingSince !== undefined) return [];
    const latest = (name: string): string | undefined => this.#containers.statesOf(name).current?.id;
    return storageLimitsOf(this.#pod, this.#parts.places, latest);
  }

  get writesTo(): string[] {
    if (this.#leavingSince !== undefined) return [];
    const { places } = this.#parts;
    const runs = this.containers.flatMap((name) => this.#containers.statesOf(name).current?.id ?? []);
    return [places.pod(this.uid), places.podLogs(this.#pod), ...runs.map((id) => places.layer(id))];
  }

  /** Whether it may begin: told once, if it was awaited. */
  admit(refusal: Obstacle | undefined): void {
    this.#admission = refusal ?? 'granted';
    this.look();
  }

  evict(message: string, because: EvictedFor): void {
    this.#eviction ??= { reason: 'Evicted', message, isDisruption: because === 'others' };
    this.look();
  }

  become(pod: Pod): void {
    if (isOlder(pod, this.#pod)) return;
    if (tellsOtherwise(pod, this.#pod)) this.#areVolumesDue = true;
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
    this.#containers.changed(state);
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
    await this.#tasks.stop();
  }

  get #podIPs(): readonly string[] {
    return this.#pod.spec.hostNetwork === true ? this.#parts.hostAddresses() : this.#sandbox.podIPs;
  }

  #quit(): void {
    this.#isStopped = true;
    this.#alarm?.();
    this.#containers.stop();
    for (const cancel of this.#cancels.splice(0)) cancel();
  }

  #referenceChanged(): void {
    this.#areVolumesDue = true;
    this.#tasks.hurry('volumes');
    this.#containers.referenceChanged();
    this.look();
  }

  #pass(): void {
    const facts = this.#facts();
    const plan = planPod(facts);
    if (plan.leaving && this.#leavingSince === undefined) this.#leave(plan, facts.now);
    this.#write(plan.status);
    this.#complain(plan);
    for (const step of plan.steps) this.#take(step, plan);
    if (!plan.leaving && this.#sandbox.volumes) this.#keepVolumes();
    this.#containers.probe(plan.leaving);
    this.#setAlarm(plan, facts.now);
  }

  #leave({ refusal }: PodPlan, now: number): void {
    this.#leavingSince = now;
    if (refusal !== undefined) this.#parts.events.warning(this.#pod, refusal.reason, refusal.message);
  }

  #setAlarm({ wakeAt, leaving }: PodPlan, now: number): void {
    this.#alarm?.();
    const { renewAt } = this.#volumes;
    const moments = [wakeAt, leaving ? undefined : renewAt].filter((moment) => moment !== undefined);
    const delay = Math.max(0, Math.min(...moments) - now);
    this.#alarm = moments.length === 0 ? undefined : this.#parts.system.timer(delay, () => this.look());
  }

  #facts(): PodFacts {
    const { system, hostAddresses } = this.#parts;
    return {
      pod: this.#pod,
      gone: this.#state === 'gone from the API',
      now: system.now(),
      seenAt: this.#seenAt,
      leavingSince: this.#leavingSince,
      admission: this.#admission,
      eviction: this.#eviction,
      sandbox: this.#sandbox,
      hostIPs: hostAddresses(),
      obstacle: this.#obstacles.get('sandbox') ?? this.#obstacles.get('volumes'),
      containers: this.#containers.facts(),
    };
  }

  #write(status: PodStatus): void {
    if (this.#state !== 'in the API' || saysStatus(this.#pod, status)) return;
    this.#tasks.begin('status', async () => {
      try {
        this.become(await writeStatus(this.#parts.client, Pod, this.#pod, status));
      } catch (error) {
        // Somebody has changed it meanwhile, or taken it away: the watch brings what is true.
        throw isConflict(error) || isMissing(error) ? error : this.#failure('cannot write the status', error);
      }
    });
  }

  /** Once for each time that a restart is put off. */
  #complain({ backingOff }: PodPlan): void {
    const { name, namespace, uid } = this.#pod.metadata;
    for (const container of backingOff) {
      if (this.#backingOff.has(container)) continue;
      const about = `container ${container} in pod ${name}_${namespace}(${uid})`;
      this.#parts.events.warning(this.#pod, 'BackOff', `Back-off restarting failed ${about}`);
    }
    this.#backingOff = backingOff;
  }

  #take(step: Step, { status }: PodPlan): void {
    switch (step.do) {
      case 'prepare':
        if (this.#sandbox.state !== 'ready') this.#tasks.begin('sandbox', () => this.#prepare());
        if (!this.#sandbox.volumes) this.#keepVolumes();
        break;
      case 'start':
        this.#containers.start(step);
        break;
      case 'end':
        this.#containers.end(step);
        break;
      case 'forget':
        this.#containers.forget(step.run);
        break;
      default:
        // Not while something is being made, and only after everybody could read how it ended.
        if (this.#tasks.isUnderWay('sandbox') || this.#tasks.isUnderWay('volumes')) return;
        if (this.#state === 'in the API' && !saysStatus(this.#pod, status)) return;
        this.#tasks.begin(step.do, () => (step.do === 'release' ? this.#release() : this.#remove()));
    }
  }

  async #prepare(): Promise<void> {
    try {
      const { networkNamespace, podIPs } = await this.#parts.gate.through(() => prepareSandbox(this.#parts, this.#pod));
      this.#networkNamespace = networkNamespace;
      this.#sandbox = { ...this.#sandbox, state: 'ready', podIPs };
      this.#obstacles.delete('sandbox');
    } catch (error) {
      const message = `Failed to create pod sandbox: ${asError(error).message}`;
      this.#obstacles.set('sandbox', { reason: 'FailedCreatePodSandBox', message });
      this.#parts.events.warning(this.#pod, 'FailedCreatePodSandBox', message);
      throw this.#failure('cannot prepare the pod', error);
    }
  }

  #sandboxLost(): void {
    const message = 'Pod sandbox changed, it will be killed and re-created.';
    this.#parts.events.normal(this.#pod, 'SandboxChanged', message);
    this.#sandbox = { ...this.#sandbox, state: 'absent' };
  }

  /** Fills them, and again whenever there is something new. */
  #keepVolumes(): void {
    const { references, system } = this.#parts;
    if ((this.#volumes.renewAt ?? Number.POSITIVE_INFINITY) <= system.now()) this.#areVolumesDue = true;
    if (!this.#areVolumesDue || !this.#references.every((each) => references.isKnown(each))) return;
    this.#tasks.begin('volumes', async () => {
      this.#areVolumesDue = false;
      try {
        await this.#volumes.bring({ pod: this.#pod, podIPs: this.#podIPs });
        this.#sandbox = { ...this.#sandbox, volumes: true };
        this.#obstacles.delete('volumes');
      } catch (error) {
        const { message } = asError(error);
        this.#obstacles.set('volumes', { reason: FAILED_MOUNT, message });
        this.#parts.events.warning(this.#pod, FAILED_MOUNT, message);
        if (error instanceof VolumeFault) return;
        this.#areVolumesDue = true;
        throw this.#failure('cannot make the volumes', error);
      }
    });
  }

  /** Its address and its files are of no use to anybody any more; who asks for its logs shall have them. */
  async #release(): Promise<void> {
    const { network, addresses, places } = this.#parts;
    await network.detach(this.uid);
    addresses.release(this.uid);
    for (const folder of [path.join(places.pod(this.uid), 'volumes'), places.sharedMemory(this.uid)]) {
      await removeFolder(folder);
    }
    for (const cancel of this.#cancels.splice(0)) cancel();
    this.#sandbox = { ...this.#sandbox, state: 'released' };
  }

  async #remove(): Promise<void> {
    const { runtime, network, addresses, places, client } = this.#parts;
    try {
      await runtime.removeSandbox(this.uid);
      await network.detach(this.uid);
      addresses.release(this.uid);
      await removeFolder(places.pod(this.uid));
      await removeFolder(places.podLogs(this.#pod));
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

const FAILED_MOUNT = 'FailedMount';

function isOlder(pod: Pod, than: Pod): boolean {
  const [version, known] = [pod.metadata.resourceVersion, than.metadata.resourceVersion];
  return /^\d+$/.test(version) && /^\d+$/.test(known) && BigInt(version) < BigInt(known);
}

/** What the pod's own volumes may tell of it is different. */
const tellsOtherwise = ({ metadata: now }: Pod, { metadata: before }: Pod): boolean =>
  !equalJson(now.labels, before.labels) || !equalJson(now.annotations, before.annotations);
