import { watch } from 'node:fs';

/** Tells that something may have changed, to whoever looks first and then waits. Nothing is asked again and again. */
export class Changes {
  #changed = false;
  #wake: (() => void) | undefined;

  readonly note = (): void => {
    this.#changed = true;
    this.#wake?.();
  };

  /** From now on: call it before looking. */
  reset(): void {
    this.#changed = false;
  }

  /** Until something has changed since the last reset, or the signal aborts. */
  async next(signal: AbortSignal): Promise<void> {
    if (this.#changed || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    this.#wake = wake;
    signal.addEventListener('abort', wake, { once: true });
    await promise;
    signal.removeEventListener('abort', wake);
    this.#wake = undefined;
  }
}

/** Notes whatever is written, renamed or removed in a folder, and that itself goes; until the result is called. */
export function watchFolder(folder: string, changes: Changes): () => void {
  const watcher = watch(folder, { persistent: false }, changes.note);
  watcher.on('error', changes.note);
  return () => watcher.close();
}
