import type { Client } from '../runtime/client.ts';
import type { System } from '../runtime/clock.ts';
import { type Holder, holderOf, IdentityFiles, type Way } from './identity-files.ts';
import { obtain } from './signing.ts';

export interface Enrolment {
  /** Of somebody who may ask for certificates and approve them: an administrator. */
  readonly client: Client;
  /** How the host itself will reach the API. */
  readonly way: Way;
  /** Of the host. */
  readonly name: string;
  /** Names and addresses under which others reach its agent. */
  readonly addresses: readonly string[];
  readonly stateDirectory: string;
  readonly system: System;
  /** How long the certificates are good for; a year when left out. */
  readonly seconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const nodeUser = (name: string): string => `system:node:${name}`;
export const NODES = 'system:nodes';

/** Of what is left of a certificate's life, so much must be left to be relied upon at the start. */
const WORTH_KEEPING = 0.3;
const PATIENCE = 60_000;

/**
 * Makes a host known: gets it a certificate as `system:node:NAME` and one under which it is reached, and writes both with a
 * kubeconfig to STATE/agent, so that its agent needs no other credentials. What is there and good is kept.
 */
export async function enrol(enrolment: Enrolment): Promise<void> {
  const { client, name, way, stateDirectory, system, seconds, signal } = enrolment;
  const files = new IdentityFiles(stateDirectory);
  const subject = { commonName: nodeUser(name), organization: NODES };
  const addresses = [...new Set(enrolment.addresses)];
  for (const purpose of ['client', 'serving'] as const) {
    const hosts = purpose === 'client' ? [] : addresses;
    const there = await files.read(purpose);
    if (there !== undefined && isGood(holderOf(there.certificate), { name, hosts, way, now: system.now() })) continue;
    const wish = { ...subject, hosts, purpose, seconds };
    await files.write(purpose, await obtain(wish, { client, system, approve: true, signal, patience: PATIENCE }));
  }
  await files.writeKubeconfig(nodeUser(name), way);
}

function isGood(
  holder: Holder | undefined,
  { name, hosts, way, now }: { name: string; hosts: readonly string[]; way: Way; now: number },
): boolean {
  if (holder === undefined || holder.user !== nodeUser(name)) return false;
  if (way.ca !== undefined && !holder.isIssuedBy(way.ca)) return false;
  return lifeLeft(holder, now) > WORTH_KEEPING && hosts.every((host) => holder.serves(host));
}

/** From 1, fresh, to 0, over. */
export const lifeLeft = ({ from, until }: Pick<Holder, 'from' | 'until'>, now: number): number =>
  (until.getTime() - now) / (until.getTime() - from.getTime());
