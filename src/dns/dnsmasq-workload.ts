import type { Deployment } from '../api/apps/workloads.ts';
import type { Container, SecurityContext, Toleration } from '../api/core/pod.ts';
import type { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import type { Applied } from '../runtime/draft.ts';
import { completeFile, hostsFolders, rereadFile } from './helper/hosts-folder.ts';
import { keptRunning } from './kept-running.ts';
import { childName, HOSTS_LABEL, labelsOf, podLabels, selectorValue } from './names.ts';
import { optionLines, optionsOf } from './options.ts';
import { inPodSpec, type Placement } from './placement.ts';

/** Servers do not listen below 1024, so that they need no privilege at all. */
export const DNS_PORT = 5353;

/**
 * The pods of a DNSMasq. What dnsmasq is told stands in the pod itself, as a variable that becomes a file: a pod that is
 * started again is told what it was told before, while a roll to options that dnsmasq refuses stops at the first new pod and
 * the old ones go on. Hosts come by another way, from a helper beside it, so that they change without any roll.
 */
export function workloadOf(dnsMasq: DNSMasq, helperImage: string, placement: Placement = {}): Applied<Deployment> {
  const { namespace = '' } = dnsMasq.metadata;
  const { replicas, nodeSelector, containerImage = '' } = dnsMasq.spec;
  const labels = podLabels(dnsMasq);
  const image = containerImage === '' ? 'dnsmasq' : containerImage;
  const dnsmasq = { image, securityContext: UNPRIVILEGED, volumeMounts: [HOSTS_MOUNT] };
  // In a value of a variable, a dollar sign would begin a reference to another one.
  const options = { name: 'DNSMASQ_OPTIONS', value: optionLines(optionsOf(dnsMasq)).replaceAll('$', '$$$$') };
  return {
    metadata: { name: childName(dnsMasq), namespace, labels: labelsOf(dnsMasq) },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: childName(dnsMasq),
          terminationGracePeriodSeconds: 10,
          securityContext: { runAsNonRoot: true, runAsUser: NOBODY, runAsGroup: NOBODY, fsGroup: NOBODY },
          ...(nodeSelector === undefined ? {} : { nodeSelector }),
          ...inPodSpec(placement, labels),
          tolerations: SILENT_HOSTS,
          initContainers: [
            {
              name: 'init',
              ...dnsmasq,
              env: [POD_IP, options],
              command: [
                'sh',
                '-c',
                `printf %s "$$DNSMASQ_OPTIONS" > ${OPTIONS_FILE} && exec "$$@"`,
                'sh',
                ...DNSMASQ,
                '--test',
              ],
              terminationMessagePolicy: 'FallbackToLogsOnError',
            },
            helper(namespace, selectorValue(dnsMasq.spec), helperImage),
          ],
          containers: [
            {
              name: 'dnsmasq-dns',
              ...dnsmasq,
              env: [POD_IP],
              // What refuses its options, or cannot listen, does so at once, and of its own accord: who is killed refuses nothing.
              command: keptRunning(DNSMASQ, {
                givesUpWhen: '[ $lived -lt 2 ] && [ $end -le 128 ]',
                pause: '$((lived < 2))',
              }),
              ports: [
                { name: 'dns', containerPort: DNS_PORT, protocol: 'UDP' },
                { name: 'dns-tcp', containerPort: DNS_PORT, protocol: 'TCP' },
              ],
              readinessProbe: { tcpSocket: { port: DNS_PORT }, periodSeconds: 1, timeoutSeconds: 2 },
              livenessProbe: {
                tcpSocket: { port: DNS_PORT },
                initialDelaySeconds: 3,
                periodSeconds: 3,
                timeoutSeconds: 5,
              },
              // Who still asks this one while the others are being told that it goes is answered.
              lifecycle: { preStop: { sleep: { seconds: 3 } } },
              terminationMessagePolicy: 'FallbackToLogsOnError',
            },
          ],
          // Thousands of small files, all of which can be had again: no disk has to see them.
          volumes: [{ name: 'hosts', emptyDir: { medium: 'Memory' } }],
        },
      },
    },
  };
}

const NOBODY = 65534;
const HOSTS_FOLDER = '/etc/dnsmasq.d/hosts';
const HOSTS_MOUNT = { name: 'hosts', mountPath: HOSTS_FOLDER };
/** Named after what it is made of: dnsmasq says on which line of it there is something that it refuses. */
const OPTIONS_FILE = `${HOSTS_FOLDER}/.spec.options`;
const POD_IP = { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } };
const UNPRIVILEGED: SecurityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };

/** Unknown names go to the servers among the options, for the file names none; names without dots and private addresses never leave. */
const DNSMASQ = [
  'dnsmasq',
  '--interface=*',
  '--bind-interfaces',
  '--listen-address=$(POD_IP)',
  `--port=${DNS_PORT}`,
  ...hostsFolders(HOSTS_FOLDER).map((folder) => `--hostsdir=${folder}`),
  `--conf-file=${OPTIONS_FILE}`,
  '--keep-in-foreground',
  '--pid-file=',
  '--log-facility=-',
  '--no-hosts',
  `--resolv-file=${rereadFile(HOSTS_FOLDER)}`,
  '--clear-on-reload',
  // A host that is made known here would be answered as others answered for it before, for as long as they said that this holds.
  '--max-cache-ttl=1',
  '--domain-needed',
  '--bogus-priv',
];

/** Brings the hosts of all ConfigMaps with the label into the folder that dnsmasq looks into, for as long as it runs. */
const helper = (namespace: string, selector: string, image: string): Container => ({
  name: 'hosts',
  image,
  restartPolicy: 'Always',
  command: keptRunning(
    [
      'netloom',
      'dns-hosts',
      `--namespace=${namespace}`,
      `--selector=${HOSTS_LABEL}=${selector}`,
      `--folder=${HOSTS_FOLDER}`,
    ],
    // Once there are hosts, they are answered for, whatever becomes of it.
    { givesUpWhen: `[ ! -e ${completeFile(HOSTS_FOLDER)} ]`, pause: '1' },
  ),
  volumeMounts: [HOSTS_MOUNT],
  securityContext: UNPRIVILEGED,
  // dnsmasq starts when all hosts are there: it never says that there is no such host for having been too early.
  startupProbe: {
    exec: { command: ['test', '-e', completeFile(HOSTS_FOLDER)] },
    periodSeconds: 1,
    timeoutSeconds: 5,
    failureThreshold: 300,
  },
});

/** A server that has nothing to lose has nothing to wait for either when its host falls silent: another one takes its place. */
const SILENT_HOSTS: Toleration[] = ['not-ready', 'unreachable'].map((state) => ({
  key: `node.kubernetes.io/${state}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 0,
}));
