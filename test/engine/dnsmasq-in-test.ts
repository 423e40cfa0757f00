import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Container } from '../../src/api/core/pod.ts';
import type { DNSMasq } from '../../src/api/network.openstack.org/dnsmasq.ts';
import { workloadOf } from '../../src/dns/dnsmasq-workload.ts';
import { expanded } from '../../src/pods/host/env/expansion.ts';

/** A real dnsmasq, told what its pod would tell it, but for the address and the folder. */
export class DnsmasqInTest {
  readonly folder: string;
  readonly port: number;
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  /** The folder is there; dnsmasq itself is started later. */
  static async prepare(): Promise<DnsmasqInTest> {
    const folder = await mkdtemp(join(tmpdir(), 'netloom-hosts-'));
    // dnsmasq that root starts gives up being root.
    await chmod(folder, 0o755);
    return new DnsmasqInTest(folder, await freePort());
  }

  /** Returns what dnsmasq has against its options, as the pod of it would say. */
  start(spec: DNSMasq['spec']): string {
    const metadata = { name: 'dns', namespace: 'default', uid: '', resourceVersion: '', creationTimestamp: '' };
    const dnsMasq: DNSMasq = { apiVersion: 'network.openstack.org/v1beta1', kind: 'DNSMasq', metadata, spec };
    const { initContainers = [], containers = [] } = workloadOf(dnsMasq, '').spec?.template?.spec ?? {};
    const [init, server] = [this.#commandOf(initContainers[0]), this.#commandOf(containers[0])];
    const { status, stderr } = spawnSync(init.program, init.words, { env: init.env, encoding: 'utf8' });
    if (status !== 0) return stderr.trim();
    this.#process = spawn(server.program, server.words, { env: server.env, stdio: 'ignore' });
    this.#process.on('error', () => {});
    return '';
  }

  /** Ends the dnsmasq that runs, as the kernel does when memory is short. */
  killProgram(): void {
    const { stdout } = spawnSync('pgrep', ['--parent', String(this.#process?.pid), 'dnsmasq'], { encoding: 'utf8' });
    process.kill(Number(stdout), 'SIGKILL');
  }

  /** What a kubelet makes of a container, but for the address and the folder. */
  #commandOf(container: Partial<Container> = {}): { program: string; words: string[]; env: NodeJS.ProcessEnv } {
    const here = (text: string): string =>
      expanded(text, (name) => (name === 'POD_IP' ? '127.0.0.1' : undefined))
        .replaceAll('--port=5353', `--port=${this.port}`)
        .replaceAll('/etc/dnsmasq.d/hosts', this.folder);
    const [program = '', ...words] = (container.command ?? []).map(here);
    const env = (container.env ?? []).map(({ name, value = '' }) => [name, here(value)]);
    return { program, words, env: { ...process.env, ...Object.fromEntries(env) } };
  }

  /** The address of a name, or why there is none. */
  async answer(name: string): Promise<string> {
    return this.#asked((resolver) => resolver.resolve4(name));
  }

  /** The name of an address, or why there is none. */
  async reverse(address: string): Promise<string> {
    return this.#asked((resolver) => resolver.reverse(address));
  }

  /** The texts of a name, or why there are none. */
  async texts(name: string): Promise<string> {
    return this.#asked(async (resolver) => (await resolver.resolveTxt(name)).map((parts) => parts.join('|')));
  }

  async stop(): Promise<void> {
    if (this.#process?.kill('SIGTERM') === true) await once(this.#process, 'exit');
    await rm(this.folder, { recursive: true, force: true });
  }

  async #asked(ask: (resolver: Resolver) => Promise<string[]>): Promise<string> {
    const resolver = new Resolver({ timeout: 2_000, tries: 1 });
    resolver.setServers([`127.0.0.1:${this.port}`]);
    try {
      return (await ask(resolver)).sort().join(' ');
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error);
    }
  }
}

/** Not one of those that the kernel gives to whoever asks a question: it might be gone when dnsmasq comes. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const [datagrams, streams] = [createSocket('udp4'), createServer()];
    try {
      datagrams.bind(port, '127.0.0.1');
      await once(datagrams, 'listening');
      streams.listen(port, '127.0.0.1');
      await once(streams, 'listening');
      return port;
    } catch {
      // Somebody has it.
    } finally {
      datagrams.close();
      streams.close();
    }
  }
}
