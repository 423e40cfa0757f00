import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One container of a pod, that has begun or that runs. */
export interface Seen {
  /** The uid of its pod. */
  readonly pod: string;
  readonly host: string;
}

/**
 * Looks at containers from outside, whatever the API says of them: each writes down that it has begun, in a file that no host
 * loses, and is found among the processes of this machine for as long as it runs.
 */
export class Witness {
  readonly #folder = mkdtempSync(join(tmpdir(), 'netloom-witness-'));

  /** What goes into `spec` of a pod whose container is to be seen. */
  get podSpec() {
    const script = 'echo "$POD $HOST" >> /witness/begun; exec sleep 1000000';
    const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
    return {
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'seen',
          image: 'none',
          command: ['sh', '-c', script],
          env: [{ name: 'WITNESS', value: this.#folder }, field('POD', 'metadata.uid'), field('HOST', 'spec.nodeName')],
          volumeMounts: [{ name: 'witness', mountPath: '/witness' }],
        },
      ],
      volumes: [{ name: 'witness', hostPath: { path: this.#folder } }],
    };
  }

  /** As JSON, for kubectl: so many of them, wherever there is room. */
  deployment(name: string, replicas: number, pod: object = {}): string {
    const labels = { app: name };
    return JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { ...this.podSpec, ...pod } },
      },
    });
  }

  /** As JSON, for kubectl: one that nobody replaces. */
  pod(name: string, pod: object = {}): string {
    return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { ...this.podSpec, ...pod } });
  }

  /** Every beginning there ever was, the first one first. */
  begun(): Seen[] {
    const file = join(this.#folder, 'begun');
    if (!existsSync(file)) return [];
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [pod = '', host = ''] = line.split(' ');
        return { pod, host };
      });
  }

  /** What runs at this moment. A process that has ended has no environment any more. */
  running(): (Seen & { pid: number })[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        const environment = environmentOf(name);
        const value = (key: string): string =>
          environment.find((entry) => entry.startsWith(`${key}=`))?.slice(key.length + 1) ?? '';
        return value('WITNESS') === this.#folder ? [{ pid: Number(name), pod: value('POD'), host: value('HOST') }] : [];
      })
      .sort((a, b) => a.pid - b.pid);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    // It has ended meanwhile.
    return [];
  }
}
