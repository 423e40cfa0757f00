import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** For what takes milliseconds, in milliseconds. */
const PATIENCE = 30_000;

const PROGRAM = path.join(import.meta.dirname, '../../bin/netloom');

/**
 * What the nftables of a host are told, as `nft monitor` prints it: of one change after the other, for it loses sight of sets from which
 * something was deleted.
 */
export class KernelWatch implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  #waiting: { readonly text: string; found(): void } | undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.#lines.push(line);
      if (this.#waiting === undefined || !line.includes(this.#waiting.text)) return;
      this.#waiting.found();
      this.#waiting = undefined;
    });
  }

  /** There must be a Service already: of a table that comes later, `nft monitor` understands nothing. */
  static async open(host: string): Promise<KernelWatch> {
    while ((await nft(host, 'list', 'map', 'inet', 'netloom-services', 'services4')) !== 0) await sleep(100);
    const child = spawn(PROGRAM, ['lab', 'exec', host, '--', 'nft', 'monitor'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const watch = new KernelWatch(child);
    // It does not say when it begins.
    for (let isThere = false; !isThere; ) {
      const heard = watch.line('netloom-bench').then(
        () => true,
        () => false,
      );
      await nft(host, 'add table inet netloom-bench; delete table inet netloom-bench');
      isThere = await Promise.race([heard, sleep(200, false)]);
    }
    return watch;
  }

  /** Resolves when a line with this text is printed. */
  line(text: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new Error(`the kernel was not told of "${text}"`)), PATIENCE);
    this.#waiting = { text, found: resolve };
    return promise.finally(() => clearTimeout(timer));
  }

  /** How many changes of our table the kernel has been told of. */
  get changes(): number {
    return this.#lines.filter((line) => line.includes('netloom-services')).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}

async function nft(host: string, ...words: string[]): Promise<number> {
  const child = spawn(PROGRAM, ['lab', 'exec', host, '--', 'nft', ...words], { stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  return code;
}
