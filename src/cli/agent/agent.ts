import { connectionOptions } from '../client/connection.ts';
import { command } from '../command.ts';
import { serviceOptions } from '../server/service-options.ts';
import { workloadOptions } from '../server/workload-options.ts';

export const agent = command({
  name: 'agent',
  summary: 'Run what a host does: its Node, its pods, its network',
  description:
    'Makes this machine, or the network namespace it is started in, a node of the cluster. With the kubeconfig of an administrator it enrols the host once: from then on it speaks only as system:node:NAME, with certificates of its own that it renews itself. When it is stopped pods run on, and the next agent of the same name finds them. It prints one line on standard output when the host is registered: `ready NAME`. Its log goes to standard error. SIGTERM ends it.',
  options: {
    name: {
      type: 'string',
      placeholder: 'NAME',
      description: 'the name of the host, and of its Node (default: the host name of this machine)',
    },
    kubeconfig: {
      ...connectionOptions.kubeconfig,
      description: 'how to reach the API (default: its own once enrolled, then $KUBECONFIG or the one of netloom up)',
    },
    'node-ip': {
      type: 'string',
      placeholder: 'ADDRESS',
      repeated: true,
      description: 'under which the host is reached (default: the address it reaches others from)',
    },
    'underlay-address': {
      type: 'string',
      placeholder: 'ADDRESS',
      repeated: true,
      description: 'where other hosts send what is for the pods of this one, one of a family (default: --node-ip)',
    },
    'state-dir': {
      type: 'string',
      placeholder: 'DIR',
      description: 'what outlives the machine (default: /var/lib/netloom/hosts/NAME)',
    },
    'run-dir': {
      type: 'string',
      placeholder: 'DIR',
      description: 'what ends with it (default: /run/netloom/hosts/NAME)',
    },
    listen: {
      type: 'integer',
      placeholder: 'PORT',
      minimum: 0,
      maximum: 65_535,
      default: 10_250,
      description: 'where logs and exec are served; 0 takes a free port',
    },
    'service-cidr': serviceOptions['service-cidr'],
    'pod-cidr': workloadOptions('on')['pod-cidr'],
    hide: {
      type: 'string',
      placeholder: 'DIR',
      repeated: true,
      description:
        'a folder that no container may see but by a hostPath volume, such as the data of an engine on this machine',
    },
    remove: {
      type: 'boolean',
      description:
        'instead of running: end all pods of the host at once, take away all that Netloom has put into its kernel and file system, and delete its Node',
    },
    label: {
      type: 'string',
      placeholder: 'KEY=VALUE',
      repeated: true,
      description: 'a label of the Node',
    },
    resource: {
      type: 'string',
      placeholder: 'NAME=AMOUNT',
      repeated: true,
      description:
        'what the Node has of a resource, such as cpu=4, memory=8Gi or pods=200 (default: what the machine has)',
    },
    cgroup: {
      type: 'string',
      placeholder: 'NAME',
      description: 'the group below which those of its pods are (default: netloom-NAME, with the name of the host)',
    },
  },
  examples: [
    'netloom agent',
    'netloom agent --name h1 --kubeconfig ./admin.kubeconfig --label rack=a',
    'netloom agent --name h1 --kubeconfig ./admin.kubeconfig --remove',
  ],
  async run({ options, terminal }) {
    if (options.remove) {
      const { removeAgent } = await import('./remove-agent.ts');
      await removeAgent(options, terminal);
    } else {
      const { runAgent } = await import('./run-agent.ts');
      await runAgent(options, terminal);
    }
  },
});
