import type { PeerKind } from '../../routes/link.ts';
import { RuleBook } from '../../routes/rules.ts';
import { RouteServer } from '../../routes/server.ts';
import { parseEndpoint } from '../../routes/sockets.ts';
import { CommandError, type Terminal } from '../command.ts';
import { listening } from '../listening.ts';
import { log, openView, readText, readTls, signalled, type TlsOptions, written } from './running.ts';

export interface ServeOptions extends TlsOptions {
  readonly listen: string;
  readonly http: string | undefined;
  readonly server: readonly string[];
  readonly rules: string | undefined;
  readonly 'max-peers': number;
  readonly keepalive: number;
  readonly 'peer-kind': PeerKind;
}

export async function serveRoutes(options: ServeOptions, terminal: Terminal): Promise<void> {
  const stopped = signalled();
  const { listen, server: servers, http } = options;
  for (const address of [listen, ...servers]) written(() => parseEndpoint(address));
  const tls = await readTls(options);
  const rules = await readRules(options.rules);
  const server = await listening('listen', listen, () =>
    RouteServer.start({
      listen,
      servers,
      tls,
      rules,
      maxPeers: options['max-peers'],
      keepaliveSeconds: options.keepalive,
      kind: options['peer-kind'],
      log: (line) => log.info(line),
    }),
  );
  try {
    const view = await openView(server.speaker, http);
    terminal.print(`ready ${server.address}`);
    if (view !== undefined) terminal.print(`page ${view.url}`);
    await stopped;
    await view?.stop();
  } finally {
    await server.stop();
  }
}

async function readRules(file: string | undefined): Promise<RuleBook> {
  if (file === undefined) return new RuleBook();
  const text = await readText(file);
  const { parse } = await import('yaml');
  try {
    return RuleBook.parse(parse(text));
  } catch (error) {
    throw new CommandError(`${file}: ${error instanceof Error ? error.message : error}`);
  }
}
