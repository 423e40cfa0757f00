import { once } from 'node:events';
import { keepHosts } from '../../dns/helper/hosts-helper.ts';
import { Client } from '../../runtime/client.ts';
import { HttpTransport } from '../../runtime/http-transport.ts';
import { inClusterConnection, readKubeconfig } from '../../runtime/kubeconfig.ts';
import { lineLog } from '../../runtime/log.ts';
import { system } from '../../runtime/system.ts';
import { CommandError } from '../command.ts';

export async function runDnsHosts(options: {
  readonly kubeconfig: string | undefined;
  readonly namespace: string | undefined;
  readonly selector: string;
  readonly folder: string;
}): Promise<void> {
  const { kubeconfig, selector, folder } = options;
  const connection =
    kubeconfig === undefined ? await inClusterConnection(process.env) : await readKubeconfig(kubeconfig);
  if (connection === undefined) {
    throw new CommandError('there is no API to talk to: this is no pod with a service account; use --kubeconfig FILE');
  }
  const transport = new HttpTransport({ connection, system, userAgent: 'netloom-dns-hosts' });
  const stop = await keepHosts({
    client: new Client({ transport, fieldManager: 'netloom-dns-hosts' }),
    system,
    log: lineLog({ clock: system, write: (line) => process.stderr.write(line) }),
    namespace: options.namespace ?? connection.namespace,
    selector,
    folder,
  });
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  await stop();
  transport.close();
}
