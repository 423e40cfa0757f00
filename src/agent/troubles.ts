import type { Trouble } from './node-status.ts';

/** What the parts of an agent cannot do at the moment; the Node says it. */
export class Troubles {
  readonly #bySource = new Map<string, Trouble>();

  /** Says what is wrong with a part of the agent, or that nothing is any more. */
  set(source: string, trouble: Trouble | undefined): void {
    if (trouble === undefined) this.#bySource.delete(source);
    else this.#bySource.set(source, trouble);
  }

  list(): readonly Trouble[] {
    return [...this.#bySource].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, trouble]) => trouble);
  }
}
