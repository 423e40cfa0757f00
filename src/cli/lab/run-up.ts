import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { readyHosts } from '../../lab/hosts/nodes.ts';
import { LabPlaces } from '../../lab/state/places.ts';
import { LabClient } from '../../lab/works/api.ts';
import { type BroughtUp, bringUp, possibleDocument } from '../../lab/works/bring-up.ts';
import { sleep } from '../../runtime/clock.ts';
import { system } from '../../runtime/system.ts';
import { kubeconfigFile } from '../client/connection.ts';
import { CommandError, type Terminal } from '../command.ts';
import { startKeeperProcess } from './keeper-process.ts';
import { statusOf } from './lab-status.ts';
import { shown } from './status-text.ts';
import { explained, requireRoot } from './the-lab.ts';

export interface LabUpOptions {
  readonly kubeconfig: string | undefined;
  readonly 'no-agents': boolean;
  readonly wait: number;
  readonly output: 'json' | undefined;
}

/** The exit code is 0 when all hosts are Ready. */
export async function labUp(file: string, options: LabUpOptions, terminal: Terminal): Promise<number> {
  requireRoot('up');
  const text = await contentOf(file);
  const source = file === '-' ? 'standard input' : resolve(file);
  const document = await explained(() => possibleDocument(source, text));
  using api = options['no-agents'] ? undefined : await openApi(options.kubeconfig);
  const { record, started } = await explained(() =>
    bringUp({
      file: source,
      text,
      document,
      api,
      startKeeper: startKeeperProcess,
      say: (sentence) => terminal.warn(sentence),
      system,
    }),
  );
  const unready = api === undefined ? [] : await waitForHosts({ record, started }, api, options.wait);
  terminal.print(shown(await statusOf(record), options.output));
  if (unready.length === 0) return 0;
  const logs = unready.map((name) => new LabPlaces(record.plan.name).host(name).log);
  terminal.warn(`not Ready after ${options.wait} s: ${unready.join(', ')}; their agents say why in ${logs.join(', ')}`);
  return 1;
}

async function contentOf(file: string): Promise<string> {
  try {
    return file === '-' ? await textOf(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${whyOf(error)}`);
  }
}

function whyOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file';
  return code === 'EISDIR' ? 'it is a folder, not a file' : message;
}

async function openApi(kubeconfig: string | undefined): Promise<LabClient> {
  try {
    const file = resolve(kubeconfigFile(kubeconfig));
    return await LabClient.open(file, system);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${said}; or make the network alone with --no-agents`);
  }
}

/** Answers with those that are not Ready in time. */
async function waitForHosts(
  { record: { plan }, started }: BroughtUp,
  { client }: LabClient,
  seconds: number,
): Promise<string[]> {
  const end = system.uptime() + seconds * 1000;
  const wanted = plan.hosts.filter(({ agent }) => agent).map(({ name }) => name);
  for (;;) {
    const ready = await readyHosts(client, plan.name, started);
    const unready = wanted.filter((name) => !ready.has(name));
    if (unready.length === 0 || system.uptime() >= end) return unready;
    await sleep(system, 200);
  }
}
