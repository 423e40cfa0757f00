import type { Container } from '../../../api/core/pod.ts';
import { type Checked, type CheckTools, check } from '../checks/check.ts';
import type { Outcome } from '../checks/outcome.ts';
import type { Probed, Unfit } from '../pod-facts.ts';
import type { Run } from '../runs.ts';
import { Probing } from './probing.ts';

const KINDS = ['startup', 'liveness', 'readiness'] as const;
export type ProbeKind = (typeof KINDS)[number];

export interface ProbeWish {
  readonly container: Container;
  readonly run: Run;
  readonly kind: ProbeKind;
}

export interface PodProbesOptions {
  readonly tools: CheckTools;
  readonly podIP: () => string;
  /** One of them did not get the answer that it wants. */
  readonly failed: (wish: ProbeWish, outcome: Outcome) => void;
  /** Something is true now that was not before. */
  readonly changed: () => void;
}

/** What the probes of one pod have found out of the containers that run now. */
export class PodProbes {
  readonly #options: PodProbesOptions;
  /** Run → what its probes say. */
  readonly #results = new Map<string, Partial<Record<ProbeKind, boolean>>>();
  /** Run and kind → who asks. */
  readonly #asking = new Map<string, Probing>();

  constructor(options: PodProbesOptions) {
    this.#options = options;
  }

  /** What was found out before this agent began. */
  know(run: string, results: Partial<Record<ProbeKind, boolean>>): void {
    this.#results.set(run, results);
  }

  probed({ startupProbe, readinessProbe }: Container, run: string): Probed {
    const { startup, readiness } = this.#results.get(run) ?? {};
    return {
      started: startupProbe === undefined || startup === true,
      ready: readinessProbe === undefined || readiness === true,
    };
  }

  unfit(container: Container, run: string): Unfit | undefined {
    const results = this.#results.get(run) ?? {};
    const kind = (['liveness', 'startup'] as const).find((each) => results[each] === false);
    if (kind === undefined) return undefined;
    const graceSeconds = probeOf(container, kind)?.terminationGracePeriodSeconds;
    return {
      message: `Container ${container.name} failed ${kind} probe, will be restarted`,
      ...(graceSeconds === undefined ? {} : { graceSeconds }),
    };
  }

  /** Asks these and no others. */
  ask(wishes: readonly ProbeWish[]): void {
    const wanted = new Map(wishes.map((wish) => [keyOf(wish), wish]));
    for (const [key, probing] of this.#asking) {
      if (wanted.has(key)) continue;
      probing.stop();
      this.#asking.delete(key);
    }
    for (const [key, wish] of wanted) {
      if (!this.#asking.has(key)) this.#asking.set(key, this.#begin(wish));
    }
  }

  forget(run: string): void {
    this.#results.delete(run);
  }

  #begin(wish: ProbeWish): Probing {
    const { tools, podIP, failed } = this.#options;
    const { container, run, kind } = wish;
    const probe = probeOf(container, kind) ?? {};
    return new Probing({
      system: tools.system,
      probe,
      startedAt: run.startedAt,
      ask: (timeoutMs, giveUp) => {
        const target: Checked = { containerId: run.id, container, podIP: podIP() };
        return check(tools, target, probe, { timeoutMs, giveUp });
      },
      answered: (outcome) => {
        if (!outcome.ok) failed(wish, outcome);
      },
      concluded: (ok) => this.#conclude(wish, ok),
    });
  }

  #conclude({ run, kind }: ProbeWish, ok: boolean): void {
    const results = this.#results.get(run.id) ?? {};
    if (results[kind] === ok) return;
    this.#results.set(run.id, { ...results, [kind]: ok });
    this.#options.changed();
  }
}

/** Which probes of a container that runs are to be asked: startup alone until it has succeeded. */
export function probesOf(container: Container, run: Run, probed: Probed, leaving: boolean): ProbeWish[] {
  const kinds: readonly ProbeKind[] = leaving
    ? ['readiness']
    : probed.started
      ? ['liveness', 'readiness']
      : ['startup'];
  return kinds.flatMap((kind) => (probeOf(container, kind) === undefined ? [] : [{ container, run, kind }]));
}

const probeOf = (container: Container, kind: ProbeKind) => container[`${kind}Probe`];

const keyOf = ({ run, kind }: ProbeWish): string => `${run.id} ${kind}`;
