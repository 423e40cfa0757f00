import { longestFrame, subscriptionFrame } from './codec.ts';

/**
 * What was asked of a server about each virtual network. The protocol confirms nothing, and a server may still have
 * routes under way when it is told to stop. So a virtual network that was left is asked for again only when the KEEPALIVE
 * sent behind the UNSUBSCRIBE has been answered: until then what arrives for it is an echo of the past.
 */
export class SubscriptionRequests {
  readonly #networks = new Map<number, { wanted: boolean; phase: Phase }>();
  readonly #todo = new Set<number>();
  readonly #leaving: { vni: number; barrier: number }[] = [];

  want(vni: number, wanted: boolean): void {
    const network = this.#networks.get(vni);
    if (network === undefined) {
      if (wanted) this.#plan(vni, { wanted, phase: 'to ask' });
    } else if (network.phase === 'to ask' && !wanted) {
      this.#networks.delete(vni);
      this.#todo.delete(vni);
    } else {
      network.wanted = wanted;
      // Whoever stops wanting has dropped the routes; only leaving and asking again brings them back.
      if (network.phase === 'subscribed' && !wanted) this.#plan(vni, { wanted, phase: 'to leave' });
    }
  }

  /** Whether what arrives for the virtual network has to be ignored. */
  ignores(vni: number): boolean {
    const phase = this.#networks.get(vni)?.phase;
    return phase === 'to leave' || phase === 'leaving';
  }

  /** Writes what has to be asked, up to `limit`. If something is left, the KEEPALIVE number `barrier` has to be sent behind. */
  write(bytes: Uint8Array, start: number, { limit, barrier }: { limit: number; barrier: number }): Written {
    let end = start;
    const left: number[] = [];
    for (const vni of this.#todo) {
      if (end + longestFrame > limit) return { end, left, isFull: true };
      const network = this.#networks.get(vni);
      this.#todo.delete(vni);
      if (network === undefined) continue;
      const subscribe = network.phase === 'to ask';
      const frame = subscriptionFrame(subscribe, vni);
      bytes.set(frame, end);
      end += frame.length;
      network.phase = subscribe ? 'subscribed' : 'leaving';
      if (subscribe) continue;
      this.#leaving.push({ vni, barrier });
      left.push(vni);
    }
    return { end, left, isFull: false };
  }

  /** So many KEEPALIVEs have been answered. Returns the virtual networks that are left for good by that. */
  answered(count: number): number[] {
    const still = this.#leaving.findIndex(({ barrier }) => barrier > count);
    const done = this.#leaving.splice(0, still < 0 ? this.#leaving.length : still).map(({ vni }) => vni);
    for (const vni of done) {
      const wanted = this.#networks.get(vni)?.wanted === true;
      this.#networks.delete(vni);
      if (wanted) this.#plan(vni, { wanted, phase: 'to ask' });
    }
    return done;
  }

  #plan(vni: number, network: { wanted: boolean; phase: Phase }): void {
    this.#networks.set(vni, network);
    this.#todo.add(vni);
  }
}

type Phase = 'to ask' | 'subscribed' | 'to leave' | 'leaving';

interface Written {
  readonly end: number;
  /** The virtual networks for which UNSUBSCRIBE was written. */
  readonly left: readonly number[];
  readonly isFull: boolean;
}
