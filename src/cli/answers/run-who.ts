import { Node } from '../../api/core/node.ts';
import { Pod } from '../../api/core/pod.ts';
import { Service } from '../../api/core/service.ts';
import type { Kind } from '../../api/kind.ts';
import { IPAddressPool } from '../../api/metallb.io/ip-address-pool.ts';
import { ServiceL2Status } from '../../api/metallb.io/service-l2-status.ts';
import type { AddressBlock } from '../../api/netloom.io/address-block.ts';
import { AddressClaim } from '../../api/netloom.io/address-claim.ts';
import { NetConfig } from '../../api/network.openstack.org/netconfig.ts';
import { system } from '../../runtime/system.ts';
import type { Api, ConnectionOptions } from '../client/connection.ts';
import { ServedKinds } from '../client/resources.ts';
import type { Terminal } from '../command.ts';
import { asking, UNANSWERED, warnOf } from './asking.ts';
import { type Carriers, carriedBy, placesOnNodes } from './carriers.ts';
import { addressesSaidBy } from './hints.ts';
import { announcedBy, type Holder, holdersIn, inOrder, isHeld, wantedBy } from './holder.ts';
import { placesOf } from './place.ts';
import { type Question, questionOf } from './question.ts';
import { Reader } from './reader.ts';
import { type WhoAnswer, whoAnswer } from './who-answer.ts';
import { whoText } from './who-text.ts';

export interface WhoOptions extends ConnectionOptions {
  readonly output: 'json' | undefined;
}

export async function answerWho(subject: string, options: WhoOptions, terminal: Terminal): Promise<number> {
  const question = questionOf(subject);
  return asking(options, (api) => answer(question, api, options, terminal));
}

async function answer(
  question: Question,
  { transport, namespace: home }: Api,
  { namespace, output }: WhoOptions,
  terminal: Terminal,
): Promise<number> {
  const reader = new Reader(transport, home);
  const kind =
    question.is === 'name' && question.kind !== undefined
      ? (await ServedKinds.discover(transport)).named(question.kind).kind
      : undefined;
  const scope = {
    ...(kind === undefined ? {} : { kind }),
    ...(namespace === undefined ? {} : { namespace }),
  };
  const found = await read(reader, question, scope);
  terminal.print(output === 'json' ? JSON.stringify(found, null, 2) : whoText(found, system.now()));
  warnOf(reader, terminal);
  if (found.holders.some(isHeld)) return 0;
  return reader.hidden.length > 0 ? UNANSWERED.exitCode : 1;
}

interface WhoScope {
  readonly kind?: string;
  readonly namespace?: string;
}

async function read(reader: Reader, question: Question, scope: WhoScope): Promise<WhoAnswer> {
  const wanted = wantedBy(question, scope);
  const found = (blocks: readonly AddressBlock[]) => blocks.flatMap((block) => holdersIn(block, wanted));
  if (question.is === 'name') {
    // Objects tell what they have, so that most questions need no look through everything that is held.
    const [hints, carriers] = await Promise.all([
      addressesSaidBy(question.name, reader, scope.namespace),
      carriersNamed(question.name, reader, scope.namespace),
    ]);
    const hinted = [...found(await reader.blocksAt(hints)), ...carriedBy(carriers, wanted)];
    if (hinted.length > 0) return whoAnswer({ question, scope, holders: await located(reader, hinted) });
    // An object that is gone, or of a kind that does not tell its addresses, may hold some all the same.
    const all = await reader.blocks();
    const names = all.flatMap(({ spec }) => spec.holdings.map(({ holder }) => holder.name));
    const holders = await located(reader, found(all));
    return whoAnswer({ question, scope, holders, names, isPartial: reader.hidden.length > 0 });
  }
  const blocks =
    question.is === 'address' ? await reader.blocksAt([question.address]) : await reader.blocksUnder([question.prefix]);
  const onRecord = found(blocks);
  const [recorded, netConfigs, pools, carriers] = await Promise.all([
    located(reader, onRecord),
    reader.list(NetConfig, scope.namespace === undefined ? {} : { namespace: scope.namespace }),
    reader.list(IPAddressPool),
    // Whoever has an address by the ledger has it, and most questions are about those.
    question.is === 'address' && onRecord.length > 0 ? NONE : allCarriers(reader),
  ]);
  const holders = [...recorded, ...inOrder(carriedBy(carriers, wanted))];
  const places =
    question.is === 'address'
      ? [...placesOf(question.address, { netConfigs, pools }), ...placesOnNodes(question.address, carriers.nodes)]
      : [];
  const isPartial = reader.hidden.length > 0;
  return whoAnswer({ question, scope, holders, places, environment: { netConfigs, pools }, isPartial });
}

async function allCarriers(reader: Reader): Promise<Carriers> {
  const [pods, services, nodes] = await Promise.all([reader.list(Pod), reader.list(Service), reader.list(Node)]);
  return { pods, services, nodes };
}

async function carriersNamed(name: string, reader: Reader, namespace?: string): Promise<Carriers> {
  const [pods, services, nodes] = await Promise.all([
    reader.named(Pod, name, namespace),
    reader.named(Service, name, namespace),
    reader.named(Node, name),
  ]);
  return { pods, services, nodes };
}

const NONE: Carriers = { pods: [], services: [], nodes: [] };

/** With the host and the interfaces that announce it, where the holder is a Service; with the host that a claim is for. */
async function located(reader: Reader, holders: readonly Holder[]): Promise<Holder[]> {
  const of = ({ group, kind }: Kind) =>
    holders.filter(({ holder }) => holder.kind === kind && holder.apiGroup === group);
  const services = of(Service);
  const claims = of(AddressClaim);
  const announcers = services.length === 0 ? [] : await reader.list(ServiceL2Status);
  const claimed = await hostsOf(claims, reader);
  return inOrder(holders).map((holder) => {
    if (services.includes(holder)) return announcedBy(holder, announcers);
    const host = claims.includes(holder) ? claimed.get(holder.holder.uid) : undefined;
    return host === undefined ? holder : { ...holder, host };
  });
}

/** UID of a claim → the host that it is for. */
async function hostsOf(claims: readonly Holder[], reader: Reader): Promise<Map<string, string>> {
  const found =
    claims.length > MOST_BY_NAME
      ? await reader.list(AddressClaim)
      : await Promise.all(claims.map(({ holder }) => reader.see(AddressClaim, holder.namespace, holder.name)));
  return new Map(found.flatMap((claim) => (claim === undefined ? [] : [[claim.metadata.uid, claim.spec.host]])));
}

/** More are read all at once. */
const MOST_BY_NAME = 16;
