import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { type HostPlaces, LabPlaces } from '../../lab/state/places.ts';
import { isGone } from '../../lab/state/record.ts';
import { goneSentence } from '../../lab/works/break-and-heal.ts';
import { inNetworkNamespace, isNetworkNamespace, networkNamespacePath } from '../../linux/network-namespace.ts';
import { seeInstead } from '../../linux/own-mounts.ts';
import { hostResolverFile } from '../../services/host/host-names.ts';
import { CommandError } from '../command.ts';
import { requireRoot, theHost } from './the-lab.ts';

/** Answers with the exit code of the command, as a shell has it. */
export async function labExec(which: string, words: readonly string[]): Promise<number> {
  requireRoot('exec');
  const { host, lab } = theHost(which);
  const namespace = networkNamespacePath(host.namespace);
  if (isGone(lab)) throw new CommandError(goneSentence(lab));
  if (!isNetworkNamespace(namespace)) {
    throw new CommandError(`${which} is dead: "netloom lab heal ${which}" brings it back`);
  }
  const [command = process.env['SHELL'] ?? '/bin/sh', ...rest] = words;
  if (host.agent) giveNames(new LabPlaces(lab.plan.name).host(host.name));
  const env = { ...process.env, NETLOOM_LAB: lab.plan.name, NETLOOM_HOST: host.name };
  // Whoever sits at the terminal speaks to the command; we only wait for it.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) process.on(signal, () => {});
  const child = inNetworkNamespace(namespace, () => spawn(command, rest, { stdio: 'inherit', env }));
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.on('error', (error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such command' : error.message;
    reject(new CommandError(`${command} cannot be run: ${why}`, { exitCode: error.code === 'ENOENT' ? 127 : 126 }));
  });
  child.on('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  return promise;
}

/** The command asks the agent of its host for names, as pods do: the name servers of the machine are out of its reach. */
function giveNames({ run }: HostPlaces): void {
  if (!existsSync(RESOLVER)) return;
  mkdirSync(run, { recursive: true });
  const file = path.join(run, 'resolv.conf');
  writeFileSync(file, hostResolverFile());
  seeInstead(RESOLVER, file);
}

const RESOLVER = '/etc/resolv.conf';
