import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

const ASKER = join(import.meta.dirname, 'asker.ts');

/** A process that asks a name server again and again, where the server can be reached from. */
export class Asking {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  /** @param network a network namespace, or that of the machine when there is none */
  constructor(server: string, network?: string) {
    const enter = network === undefined ? [] : ['nsenter', `--net=/run/netns/${network}`];
    const [program = '', ...words] = [...enter, process.execPath, ASKER, server];
    this.#child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    const reader: Interface = createInterface(this.#child.stdout);
    this.#lines = reader[Symbol.asyncIterator]();
  }

  /** When the name is first answered with the address, in milliseconds of `moment`. */
  async becomes(name: string, address: string): Promise<number> {
    this.#child.stdin.write(`${name} ${address}\n`);
    return Number(await this.#next()) / 1e6;
  }

  /** How many questions nobody answered. */
  async end(): Promise<number> {
    this.#child.stdin.end();
    const said = await this.#next();
    return Number(said.replace('lost ', ''));
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async #next(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the one who asks has ended');
    return value;
  }
}

/** Now, by the clock that all processes of the machine share. */
export const moment = (): number => Number(process.hrtime.bigint()) / 1e6;
