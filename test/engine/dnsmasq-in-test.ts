import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DNSMasq } from '../../src/api/network.openstack.org/dnsmasq.ts';
import { workloadOf } from '../../src/dns/dnsmasq-workload.ts';

/** A real dnsmasq, told what its pod would tell it, but for the address and the folder. */
export class DnsmasqInTest {
  readonly folder: string;
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.#port = port;
  }

  /** The folder is there; dnsmasq itself is started later. */
  static async prepare(): Promise<DnsmasqInTest> {
    const folder = await mkdtemp(join(tmpdir(), 'netloom-hosts-'));
    // dnsmasq that root starts gives up being root.
    await chmod(folder, 0o755);
    return new DnsmasqInTest(folder, await freePort());
  }

  start(spec: DNSMasq['spec']): void {
    const metadata = { name: 'dns', namespace: 'default', uid: '', resourceVersion: '', creationTimestamp: '' };
    const dnsMasq: DNSMasq = { apiVersion: 'network.openstack.org/v1beta1', kind: 'DNSMasq', metadata, spec };
    const command = workloadOf(dnsMasq, '').spec?.template?.spec?.containers?.[0]?.command ?? [];
    const own = command
      .slice(1)
      .map((word) => word.replace('$(POD_IP)', '127.0.0.1').replace('--port=5353', `--port=${this.#port}`))
      .map((word) => word.replace('/etc/dnsmasq.d/hosts', this.folder));
    this.#process = spawn('dnsmasq', own, { stdio: 'ignore' });
    this.#process.on('error', () => {});
  }

  /** The address of a name, or why there is none. */
  async answer(name: string): Promise<string> {
    return this.#asked((resolver) => resolver.resolve4(name));
  }

  /** The name of an address, or why there is none. */
  async reverse(address: string): Promise<string> {
    return this.#asked((resolver) => resolver.reverse(address));
  }

  async stop(): Promise<void> {
    this.#process?.kill('SIGKILL');
    await rm(this.folder, { recursive: true, force: true });
  }

  async #asked(ask: (resolver: Resolver) => Promise<string[]>): Promise<string> {
    const resolver = new Resolver({ timeout: 2_000, tries: 1 });
    resolver.setServers([`127.0.0.1:${this.#port}`]);
    try {
      return (await ask(resolver)).sort().join(' ');
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error);
    }
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
