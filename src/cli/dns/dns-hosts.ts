import { command } from '../command.ts';

export const dnsHosts = command({
  name: 'dns-hosts',
  summary: 'Keep a folder of hosts files as ConfigMaps say, for a dnsmasq beside it',
  description:
    'Runs beside dnsmasq in the pods of a DNSMasq. Watches the ConfigMaps with a label and writes each of them as a file into a folder that dnsmasq reads (`--hostsdir`). Lines that are no address with names are left out. A file `.complete` appears when all of them are there. Runs until a signal ends it.',
  options: {
    kubeconfig: {
      type: 'string',
      placeholder: 'FILE',
      description: 'how to reach the API (default: the service account of the pod)',
    },
    namespace: { type: 'string', short: 'n', placeholder: 'NAME', description: 'where the ConfigMaps are' },
    selector: {
      type: 'string',
      placeholder: 'LABEL=VALUE',
      description: 'which ConfigMaps hold hosts',
      default: 'dnsmasqhosts=dnsdata',
    },
    folder: {
      type: 'string',
      placeholder: 'DIR',
      description: 'where the files go',
      default: '/etc/dnsmasq.d/hosts',
    },
  },
  examples: ['netloom dns-hosts --namespace openstack --folder ./hosts --kubeconfig ./kubeconfig'],
  async run({ options }) {
    const { runDnsHosts } = await import('./run-dns-hosts.ts');
    await runDnsHosts(options);
  },
});
