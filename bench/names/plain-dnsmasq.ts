import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Samples } from '../shared/samples.ts';
import { Asking, moment } from './asking.ts';

/** A dnsmasq with nothing of Netloom beside it, and a file with all hosts in the folder that it watches. */
export class PlainDnsmasq {
  readonly #folder: string;
  readonly #hosts: { address: string; name: string }[];
  #child: ChildProcess | undefined;
  #asking: Asking | undefined;
  #changed = 0;

  private constructor(folder: string, count: number) {
    this.#folder = folder;
    this.#hosts = Array.from({ length: count }, (_, i) => ({
      address: `10.0.${i >> 8}.${i & 255}`,
      name: `host-${i}.example.com`,
    }));
  }

  static async start(count: number): Promise<PlainDnsmasq> {
    const folder = await mkdtemp(join(tmpdir(), 'netloom-bench-hosts-'));
    // dnsmasq that root starts gives up being root.
    await chmod(folder, 0o755);
    const plain = new PlainDnsmasq(folder, count);
    await plain.#write();
    await plain.#start();
    return plain;
  }

  /** One record after the other gets another address, as somebody does it who edits the file. */
  async changes(times: number): Promise<Samples> {
    const took: number[] = [];
    for (let i = 0; i < times; i += 1) {
      const host = this.#hosts[(i * 7919) % this.#hosts.length];
      if (host === undefined) continue;
      this.#changed += 1;
      host.address = `172.31.${this.#changed >> 8}.${this.#changed & 255}`;
      const answered = this.#asking?.becomes(host.name, host.address);
      const began = moment();
      await this.#write();
      took.push(((await answered) ?? Number.NaN) - began);
    }
    return new Samples(took);
  }

  async stop(): Promise<void> {
    this.#asking?.kill();
    this.#child?.kill('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const port = await freePort();
    const listen = ['--listen-address=127.0.0.1', `--port=${port}`, '--bind-interfaces', '--interface=*'];
    const quiet = ['--conf-file=/dev/null', '--no-hosts', '--no-resolv', '--keep-in-foreground', '--pid-file='];
    const words = [...listen, ...quiet, `--hostsdir=${this.#folder}`];
    const child = spawn('dnsmasq', words, { stdio: 'ignore' });
    this.#child = child;
    process.once('exit', () => child.kill('SIGKILL'));
    this.#asking = new Asking(`127.0.0.1:${port}`);
    const [first] = this.#hosts;
    await this.#asking.becomes(first?.name ?? '', first?.address ?? '');
  }

  async #write(): Promise<void> {
    const fresh = join(this.#folder, '.fresh');
    await writeFile(fresh, this.#hosts.map(({ address, name }) => `${address} ${name}\n`).join(''));
    await rename(fresh, join(this.#folder, 'hosts'));
  }
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}
