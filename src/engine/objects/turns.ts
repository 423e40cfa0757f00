/** Lets through side by side who goes with others, and those who go alone one by one; whoever came first goes first. */
export class Turns {
  readonly #lines = new Map<string, Line>();

  /** Resolves when it is our turn in this line, with what ends it. */
  async take(name: string, { alone }: { alone: boolean }): Promise<() => void> {
    const line = this.#lines.get(name) ?? { alone: undefined, together: new Set() };
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const ahead = alone ? [line.alone, ...line.together] : [line.alone];
    const own = alone ? { alone: over, together: new Set<Promise<void>>() } : line;
    if (!alone) line.together.add(over);
    this.#lines.set(name, own);
    for (const other of ahead) await other;
    return () => {
      if (own.alone === over) own.alone = undefined;
      own.together.delete(over);
      if (own.alone === undefined && own.together.size === 0 && this.#lines.get(name) === own) this.#lines.delete(name);
      end();
    };
  }
}

/** The last who goes alone, and those who came after. */
interface Line {
  /** Resolves when it is over. */
  alone: Promise<void> | undefined;
  readonly together: Set<Promise<void>>;
}
