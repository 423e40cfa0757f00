import { Node } from '../../api/core/node.ts';
import type { Pod } from '../../api/core/pod.ts';
import { asError, isFaultOfOurs } from '../../runtime/log.ts';
import { isFinished, isTerminating } from '../pod-state.ts';
import { NodeSpace, type Tenant, tenant } from '../scheduling/node-space.ts';
import { type Refusal, refusalBy } from '../scheduling/refusal.ts';
import type { HostParts } from './host-parts.ts';
import { Tasks } from './tasks.ts';

type Parts = Pick<HostParts, 'client' | 'system' | 'log' | 'node' | 'isNodeUpToDate'>;

type Told = (refusal: Refusal | undefined) => void;

/** As long as the Node cannot be read nothing new begins: that is not to last longer than it must. */
const RETRY = { first: 200, max: 2_000 };

/**
 * Lets pods in that come to this host, in the order in which they come, and as long as the Node has what they ask for: whoever writes
 * spec.nodeName by hand has asked no scheduler. The Node is read after a pod has come, so nobody is refused for what was true once.
 */
export class Admittance {
  readonly #parts: Parts;
  readonly #tasks: Tasks;
  readonly #space: NodeSpace;
  /** UID → what the pod takes of the Node. */
  readonly #inside = new Map<string, Tenant>();
  /** UID → who is to be told. */
  readonly #outside = new Map<string, { pod: Pod; told: Told }>();
  #isOpen = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#space = new NodeSpace(parts.node);
    this.#tasks = new Tasks({ system: parts.system, changed: () => this.#go(), retry: RETRY });
  }

  /** To be called when all are known who are inside already. */
  open(): void {
    this.#isOpen = true;
    this.#go();
  }

  /** It has begun here, and goes on whatever the Node says by now. */
  enter(pod: Pod): void {
    this.#outside.delete(pod.metadata.uid);
    this.leave(pod.metadata.uid);
    if (isFinished(pod)) return;
    const entered = tenant(pod, this.#parts.node);
    this.#inside.set(pod.metadata.uid, entered);
    this.#space.add(entered);
  }

  /** Tells of a pod that has not begun why it must not, or that it may. */
  ask(pod: Pod, told: Told): void {
    this.#outside.set(pod.metadata.uid, { pod, told });
    this.#go();
  }

  become(pod: Pod): void {
    const { uid } = pod.metadata;
    const outside = this.#outside.get(uid);
    if (this.#inside.has(uid)) this.enter(pod);
    else if (outside !== undefined && (isFinished(pod) || isTerminating(pod))) this.#outside.delete(uid);
    else if (outside !== undefined) outside.pod = pod;
  }

  leave(uid: string): void {
    this.#outside.delete(uid);
    const there = this.#inside.get(uid);
    if (there === undefined) return;
    this.#inside.delete(uid);
    this.#space.remove(there);
  }

  async stop(): Promise<void> {
    await this.#tasks.stop();
  }

  #go(): void {
    if (this.#isOpen && this.#outside.size > 0) this.#tasks.begin('decide', () => this.#decide());
  }

  async #decide(): Promise<void> {
    try {
      // Who comes while it is being read waits for the next reading: it may have changed just before.
      const waiting = [...this.#outside.keys()];
      const node = await this.#readNode();
      this.#space.node = node;
      const asking = waiting.flatMap((uid) => this.#outside.get(uid) ?? []);
      // Those that an agent hears of together have come in the order in which they were made.
      const held = asking.sort(byAge).filter(({ pod, told }) => !this.#judge(node, pod, told));
      if (held.length > 0) throw new NotYet(`Node ${node.metadata.name} does not say yet what its host is and has now`);
    } catch (thrown) {
      const error = asError(thrown);
      const level = isFaultOfOurs(error) ? 'error' : 'warn';
      if (error instanceof NotYet) this.#parts.log.info(`pods that have come wait: ${error.message}`);
      else this.#parts.log[level]('cannot tell whether pods fit that have come; will try again', { error });
      throw error;
    }
  }

  /** False when nothing can be said of it yet: others do not wait for that. */
  #judge(node: Node, pod: Pod, told: Told): boolean {
    const refusal = refusalBy(this.#space, pod);
    if (refusal !== undefined && !this.#parts.isNodeUpToDate(node)) return false;
    this.#outside.delete(pod.metadata.uid);
    if (refusal === undefined) this.enter(pod);
    told(refusal);
    return true;
  }

  async #readNode(): Promise<Node> {
    const { client, node: name } = this.#parts;
    const node = await client.get(Node, name);
    if (node === undefined) throw new NotYet(`there is no Node ${name}`);
    const { allocatable, capacity } = node.status ?? {};
    if ((allocatable ?? capacity) === undefined) throw new NotYet(`Node ${name} does not say yet what its host has`);
    return node;
  }
}

/** As it is for a moment when a host begins. */
class NotYet extends Error {}

function byAge({ pod: a }: { pod: Pod }, { pod: b }: { pod: Pod }): number {
  const [first, second] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  return first < second ? -1 : first > second ? 1 : 0;
}
