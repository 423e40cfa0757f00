/** Gives pods of this host a network namespace with one interface, and takes it away without a trace. */
export interface PodNetwork {
  /** Makes the namespace with `eth0`, or finds it as it was; the path is good for `setns`. */
  attach(
    pod: { uid: string; namespace: string; name: string },
    addresses: readonly string[],
  ): Promise<{ namespacePath: string }>;
  detach(uid: string): Promise<void>;
  /** UIDs of the pods that have something here, with their addresses; also those that a crashed run left. */
  list(): Promise<{ uid: string; addresses: string[] }[]>;
  /** Routes to the pods of other hosts; what was there of ours and is not named any more is removed. */
  routeTo(others: readonly { podCidr: string; via: string }[]): Promise<{ podCidr: string; problem: string }[]>;
  /** Those of this host's own ranges whose pods nothing reaches, because its kernel lets nothing through to them. */
  cutOff(ranges: readonly string[]): Promise<{ podCidr: string; problem: string }[]>;
  /**
   * Sees to it that each pod speaks in its own name alone, for as long as there are pods: firewalls of others sweep away what there is, so it is
   * called again and again. Answers whether something was missing.
   */
  guard(): Promise<boolean>;
}
