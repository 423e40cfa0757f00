import { command } from '../command.ts';

export const dnsHosts = command({
  name: 'dns-hosts',
  summary: 'Keep a folder of hosts files as ConfigMaps say, for a dnsmasq beside it',
  description:
    'Runs beside dnsmasq in the pods of a DNSMasq. Watches the ConfigMaps with a label and brings the hosts in them into the folders 0 to f within a folder, in small files, so that dnsmasq is quick with a change: it reads each of these folders (`--hostsdir`), and everything anew when the file `.reread/servers` changes (`--resolv-file`). What is no address with names is left out. A file `.complete` appears when all of them are there. While the API is away everything stays as it is. Runs until a signal ends it.',
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
