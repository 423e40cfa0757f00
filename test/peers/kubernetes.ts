import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAuthority, issueClient, issueServer, type KeyPair } from '../../src/engine/auth/authority.ts';
import { kubeconfig } from '../../src/engine/kubeconfig.ts';
import { HttpTransport } from '../../src/runtime/http-transport.ts';
import { readKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { system } from '../../src/runtime/system.ts';
import { freePort } from './free-port.ts';
import { GoPrograms } from './go-programs.ts';

const VERSION = '1.33.13';
const [major, minor] = VERSION.split('.');
const linked = { gitVersion: `v${VERSION}`, gitMajor: major, gitMinor: minor };
const variables = Object.entries(linked).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);

/** Building them takes ten minutes of a processor the first time. */
const programs = new GoPrograms({
  source: path.join(import.meta.dirname, 'kubernetes'),
  packages: {
    etcd: './etcd',
    'kube-apiserver': './kube-apiserver',
    'kube-controller-manager': './kube-controller-manager',
  },
  flags: ['-ldflags', ['-s -w', ...variables].join(' ')],
});

export const kubernetesIsMissing = (): string | false => programs.areMissing();
export const buildKubernetes = () => programs.build();

/** What belongs to objects themselves. Who schedules pods, runs Deployments and knows the endpoints of Services is to be Netloom. */
const CONTROLLERS = [
  'certificatesigningrequest-signing-controller',
  'certificatesigningrequest-approving-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
];
/** Under which the server is asked: those that every installer of Kubernetes puts into its certificate. */
const NAMES = ['127.0.0.1', '10.96.0.1', 'localhost', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'];
const TOKEN = 'administrator-of-the-test';
const SERVICE_CIDR = '10.96.0.0/16';
const START_MS = 60_000;

/** A Kubernetes cluster without any host: etcd, kube-apiserver and kube-controller-manager as processes, on loopback. */
export class Kubernetes {
  readonly directory: string;
  readonly server: string;
  readonly #ports: { etcd: number; peers: number; api: number; manager: number };
  readonly #children = new Map<string, ChildProcess>();

  private constructor(directory: string, ports: { etcd: number; peers: number; api: number; manager: number }) {
    this.directory = directory;
    this.#ports = ports;
    this.server = `https://127.0.0.1:${ports.api}`;
  }

  /** Of an administrator. */
  get kubeconfig(): string {
    return this.#file('kubeconfig');
  }

  static async start(): Promise<Kubernetes> {
    const directory = await mkdtemp(path.join(tmpdir(), 'netloom-kubernetes-'));
    const ports = { etcd: await freePort(), peers: await freePort(), api: await freePort(), manager: await freePort() };
    const cluster = new Kubernetes(directory, ports);
    try {
      await cluster.#writeSecrets();
      await cluster.#startEtcd();
      await cluster.startServer();
      await cluster.#startManager();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  async startServer(): Promise<void> {
    const { etcd, api } = this.#ports;
    await this.#run('kube-apiserver', {
      'etcd-servers': `http://127.0.0.1:${etcd}`,
      'bind-address': '127.0.0.1',
      'advertise-address': '127.0.0.1',
      'secure-port': `${api}`,
      'endpoint-reconciler-type': 'none',
      'service-cluster-ip-range': SERVICE_CIDR,
      'authorization-mode': 'Node,RBAC',
      'enable-admission-plugins': 'NodeRestriction',
      'tls-cert-file': this.#file('server.crt'),
      'tls-private-key-file': this.#file('server.key'),
      'client-ca-file': this.#file('ca.crt'),
      'token-auth-file': this.#file('tokens.csv'),
      'service-account-key-file': this.#file('accounts.pub'),
      'service-account-signing-key-file': this.#file('accounts.key'),
      'service-account-issuer': 'https://kubernetes.default.svc',
      'kubelet-client-certificate': this.#file('kubelet-client.crt'),
      'kubelet-client-key': this.#file('kubelet-client.key'),
      'kubelet-certificate-authority': this.#file('ca.crt'),
      // Hosts of a lab are reached by their address, whatever they are called.
      'kubelet-preferred-address-types': 'InternalIP',
    });
    await this.#becomesReady('kube-apiserver', () => this.#isServing());
  }

  /** As when its machine loses power: what is in etcd stays. */
  async killServer(): Promise<void> {
    await this.#end('kube-apiserver', 'SIGKILL');
  }

  async stop(): Promise<void> {
    for (const name of ['kube-controller-manager', 'kube-apiserver', 'etcd']) await this.#end(name, 'SIGKILL');
    await rm(this.directory, { recursive: true, force: true });
  }

  async #startEtcd(): Promise<void> {
    const { etcd, peers } = this.#ports;
    const [client, peer] = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${peers}`];
    await this.#run('etcd', {
      name: 'test',
      'data-dir': this.#file('etcd'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `test=${peer}`,
      'log-level': 'warn',
    });
    await this.#becomesReady('etcd', async () => (await fetch(`${client}/health`)).ok);
  }

  async #startManager(): Promise<void> {
    await this.#run('kube-controller-manager', {
      kubeconfig: this.kubeconfig,
      controllers: CONTROLLERS.join(','),
      'bind-address': '127.0.0.1',
      'secure-port': `${this.#ports.manager}`,
      'cert-dir': this.#file('manager'),
      'leader-elect': 'false',
      'root-ca-file': this.#file('ca.crt'),
      'cluster-signing-cert-file': this.#file('ca.crt'),
      'cluster-signing-key-file': this.#file('ca.key'),
      'service-account-private-key-file': this.#file('accounts.key'),
    });
  }

  async #writeSecrets(): Promise<void> {
    const now = new Date();
    const authority = await createAuthority('cluster-of-the-test', now);
    const pairs: Record<string, KeyPair> = {
      ca: authority,
      server: await issueServer(authority, NAMES, now),
      'kubelet-client': await issueClient(authority, { user: 'kube-apiserver', groups: ['system:masters'] }, now),
    };
    for (const [name, { certificate, key }] of Object.entries(pairs)) {
      await this.#write(`${name}.crt`, certificate);
      await this.#write(`${name}.key`, key);
    }
    const accounts = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await this.#write('accounts.key', accounts.privateKey.export({ type: 'sec1', format: 'pem' }));
    await this.#write('accounts.pub', accounts.publicKey.export({ type: 'spki', format: 'pem' }));
    await this.#write('tokens.csv', `${TOKEN},admin,admin,"system:masters"\n`);
    await this.#write(
      'kubeconfig',
      kubeconfig({ server: this.server, authority: authority.certificate, token: TOKEN }),
    );
  }

  async #run(name: keyof typeof programs.paths, flags: Readonly<Record<string, string>>): Promise<void> {
    const log = openSync(this.#file(`${name}.log`), 'a');
    const words = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    const child = spawn(programs.paths[name], words, { stdio: ['ignore', log, log] });
    const kill = (): boolean => child.kill('SIGKILL');
    process.on('exit', kill);
    child.on('exit', () => process.off('exit', kill));
    this.#children.set(name, child);
  }

  async #becomesReady(name: string, answers: () => Promise<boolean>): Promise<void> {
    for (const end = Date.now() + START_MS; ; await sleep(100)) {
      if (await answers().catch(() => false)) return;
      if (Date.now() < end && this.#children.get(name)?.exitCode === null) continue;
      const log = await readFile(this.#file(`${name}.log`), 'utf8');
      throw new Error(`${name} did not start:\n${log.split('\n').slice(-10).join('\n')}`);
    }
  }

  async #isServing(): Promise<boolean> {
    const transport = new HttpTransport({
      connection: await readKubeconfig(this.kubeconfig),
      system,
      userAgent: 'test',
    });
    try {
      // Among the last that it makes by itself.
      return (await transport.request({ method: 'GET', path: '/api/v1/namespaces/kube-system' })).status === 200;
    } finally {
      transport.close();
    }
  }

  async #end(name: string, signal: NodeJS.Signals): Promise<void> {
    const child = this.#children.get(name);
    this.#children.delete(name);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.on('exit', resolve));
    child.kill(signal);
    await ended;
  }

  #file(name: string): string {
    return path.join(this.directory, name);
  }

  #write(name: string, content: string | Buffer): Promise<void> {
    return writeFile(this.#file(name), content, { mode: 0o600 });
  }
}
