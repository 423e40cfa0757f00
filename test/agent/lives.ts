import type { Container, Pod, PodSpec } from '../../src/api/core/pod.ts';
import { shell, statusIn } from '../../src/pods/host/pods-by-api.fixture.ts';
import { conditionOf, isFinished } from '../../src/pods/pod-state.ts';

/** How a pod may spend its time on a host. */
export interface Life {
  readonly name: string;
  /** @param folder of the host, for what it mounts from there */
  readonly spec: (folder: string) => Partial<PodSpec> & { containers: Container[] };
  /** When it has done what there is to see, and is deleted; at once where it says nothing. */
  readonly isThere?: (pod: Pod) => boolean;
  /** In seconds, where whoever deletes it says so. */
  readonly grace?: number;
}

/** Ends when it is asked to, and takes no time of the processor until then. */
const STAY = 'trap "exit 0" TERM; sleep 1000000 & wait';

const isReady = (pod: Pod): boolean => conditionOf(pod, 'Ready')?.status === 'True';
const isRunning = ({ status }: Pod): boolean => status?.phase === 'Running';
const hasRestarted = (pod: Pod): boolean => statusIn(pod).restartCount > 0;
const mounted = (...paths: readonly string[]): Partial<Container> => ({
  volumeMounts: paths.map((name) => ({ name, mountPath: `/${name}` })),
});
const always = { exec: { command: ['true'] }, periodSeconds: 1, timeoutSeconds: 10, failureThreshold: 30 };

/** Every way to begin, to go on and to end that leaves something else behind when it is not cleared away. */
export const LIVES: readonly Life[] = [
  {
    name: 'serves',
    spec: () => ({ containers: [shell(STAY, { readinessProbe: always, ports: [{ containerPort: 8080 }] })] }),
    isThere: isReady,
  },
  {
    name: 'crashes',
    spec: () => ({ containers: [shell('sleep 0.1; exit 3')] }),
    isThere: (pod) => hasRestarted(pod) && statusIn(pod).state?.waiting?.reason === 'CrashLoopBackOff',
  },
  {
    name: 'fills-volumes',
    spec: (folder) => ({
      containers: [
        shell(`for each in /disk /memory /host; do echo $HOSTNAME > $each/$HOSTNAME; done; ${STAY}`, {
          volumeMounts: [
            ...(mounted('disk', 'memory', 'map', 'secret', 'all', 'host').volumeMounts ?? []),
            { name: 'map', mountPath: '/etc/one', subPath: 'file' },
          ],
          readinessProbe: { ...always, exec: { command: ['sh', '-c', 'test -s /host/$HOSTNAME'] } },
        }),
      ],
      volumes: [
        { name: 'disk', emptyDir: {} },
        { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
        { name: 'map', configMap: { name: 'things' } },
        { name: 'secret', secret: { secretName: 'things' } },
        { name: 'all', projected: { sources: [{ configMap: { name: 'things' } }, { secret: { name: 'things' } }] } },
        { name: 'host', hostPath: { path: `${folder}/shared`, type: 'DirectoryOrCreate' } },
      ],
    }),
    isThere: isReady,
  },
  {
    name: 'has-company',
    spec: () => ({
      initContainers: [
        shell('true', { name: 'init' }),
        shell(STAY, { name: 'sidecar', restartPolicy: 'Always', startupProbe: always }),
      ],
      containers: [shell(STAY), shell(STAY, { name: 'other', tty: true, stdin: true })],
    }),
    isThere: isReady,
  },
  {
    name: 'ends-with-children',
    spec: () => ({
      restartPolicy: 'Never',
      containers: [shell('for i in 1 2 3; do setsid sleep 1000000 & done; sleep 0.1')],
    }),
    isThere: isFinished,
  },
  {
    name: 'is-found-dead',
    spec: () => ({
      containers: [shell(STAY, { livenessProbe: { ...always, exec: { command: ['false'] }, failureThreshold: 1 } })],
    }),
    isThere: hasRestarted,
  },
  {
    name: 'cannot-begin',
    spec: () => ({ containers: [{ name: 'main', image: 'host', command: ['no-such-command'] }] }),
    isThere: (pod) => statusIn(pod).lastState?.terminated?.reason === 'StartError',
  },
  {
    name: 'waits-in-vain',
    spec: () => ({
      containers: [shell(STAY, mounted('map'))],
      volumes: [{ name: 'map', configMap: { name: 'none' } }],
    }),
    isThere: (pod) => statusIn(pod).state?.waiting?.message !== undefined,
  },
  {
    name: 'hears-nothing',
    spec: () => ({ containers: [shell('trap "" TERM; while :; do sleep 1000000; done')] }),
    isThere: isRunning,
    grace: 0,
  },
  {
    name: 'has-limits',
    spec: () => ({
      containers: [
        shell(`for i in 1 2 3 4 5 6 7 8; do sleep 1000000 & done; ${STAY}`, {
          resources: { limits: { memory: '64Mi', cpu: '500m' } },
        }),
      ],
    }),
    isThere: isRunning,
  },
  { name: 'is-on-the-host', spec: () => ({ hostNetwork: true, containers: [shell(STAY)] }), isThere: isRunning },
  {
    name: 'has-hooks',
    spec: () => ({
      containers: [
        shell(STAY, {
          lifecycle: { postStart: { exec: { command: ['true'] } }, preStop: { exec: { command: ['sleep', '0.1'] } } },
        }),
      ],
    }),
    isThere: isReady,
  },
  { name: 'is-unwanted', spec: () => ({ containers: [shell(STAY)] }) },
];
