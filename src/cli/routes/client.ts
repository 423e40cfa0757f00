import { RouteClient } from '../../routes/client.ts';
import type { PeerKind } from '../../routes/link.ts';
import { checkedVni, Route } from '../../routes/route.ts';
import { parseEndpoint } from '../../routes/sockets.ts';
import { type Terminal, UsageError } from '../command.ts';
import { log, openView, readTls, signalled, type TlsOptions, written } from './running.ts';

export interface ClientOptions extends TlsOptions {
  readonly server: readonly string[];
  readonly subscribe: readonly string[];
  readonly announce: readonly string[];
  readonly http: string | undefined;
  readonly keepalive: number;
  readonly 'peer-kind': PeerKind;
  readonly 'ipv4-only': boolean;
  readonly 'install-routes': readonly string[];
  readonly tun: string | undefined;
  readonly cleanup: boolean;
}

export async function runRouteClient(options: ClientOptions, terminal: Terminal): Promise<void> {
  const stopped = signalled();
  const servers = split(options.server);
  const { http } = options;
  if (servers.length === 0) throw new UsageError('no server is named: give at least one with --server HOST:PORT');
  for (const address of servers) written(() => parseEndpoint(address));
  const announcements = split(options.announce).map((text) => written(() => Route.parse(text)));
  const subscriptions = split(options.subscribe).map((text) =>
    written(() => checkedVni('--subscribe', /^\d+$/.test(text) ? Number(text) : Number.NaN)),
  );
  warnOfInstallation(options, terminal);
  const tls = await readTls(options);
  const print = (sign: '+' | '-', route: Route): void => {
    if (route.family === 4 || !options['ipv4-only']) terminal.print(`${sign} ${route}`);
  };
  const client = new RouteClient({
    servers,
    tls,
    keepaliveSeconds: options.keepalive,
    kind: options['peer-kind'],
    log: (line) => log.info(line),
    listener: { added: (route) => print('+', route), removed: (route) => print('-', route) },
  });
  try {
    for (const vni of subscriptions) client.subscribe(vni);
    for (const route of announcements) client.announce(route);
    const view = await openView(client.speaker, http);
    if (view !== undefined) terminal.warn(`page ${view.url}`);
    await stopped;
    await view?.stop();
  } finally {
    client.stop();
  }
}

/** metalbond takes several values behind one option, too, with commas between. */
const split = (values: readonly string[]): string[] => values.flatMap((value) => value.split(','));

function warnOfInstallation({ 'install-routes': tables, tun, cleanup }: ClientOptions, terminal: Terminal): void {
  if (tables.length === 0 && tun === undefined && !cleanup) return;
  terminal.warn(
    '--install-routes, --tun and --cleanup have no effect here: nothing is installed into the routing tables of this machine',
  );
}
