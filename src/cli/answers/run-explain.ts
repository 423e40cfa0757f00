import { AddressClaim } from '../../api/netloom.io/address-claim.ts';
import { IPSet } from '../../api/network.openstack.org/ipset.ts';
import type { ApiObject } from '../../api/object.ts';
import { system } from '../../runtime/system.ts';
import type { Api, ConnectionOptions } from '../client/connection.ts';
import { type ServedKind, ServedKinds } from '../client/resources.ts';
import { CommandError, type Terminal, UsageError } from '../command.ts';
import { suggestion } from '../nearest.ts';
import { asking, warnOf } from './asking.ts';
import { explainAnswer, isFine } from './explain-answer.ts';
import { explainText } from './explain-text.ts';
import type { Owner } from './general.ts';
import { Reader, whenOf } from './reader.ts';
import { special } from './special.ts';

export interface ExplainOptions extends ConnectionOptions {
  readonly output: 'json' | undefined;
}

export async function answerExplain(words: string, options: ExplainOptions, terminal: Terminal): Promise<number> {
  const [word = '', name = '', ...more] = words.split('/');
  if (word === '' || name === '' || more.length > 0) {
    throw new UsageError(`"${words}" is not KIND/NAME: write it like ipset/edpm-compute-0`);
  }
  return asking(options, (api) => answer({ word, name }, api, options, terminal));
}

async function answer(
  { word, name }: { readonly word: string; readonly name: string },
  api: Api,
  { output }: ExplainOptions,
  terminal: Terminal,
): Promise<number> {
  const kinds = await ServedKinds.discover(api.transport);
  const kind = kinds.named(word);
  const reader = new Reader(api.transport, api.namespace);
  const namespace = kind.namespaced ? api.namespace : '';
  const object = await reader.get(kind, namespace, name);
  if (object === undefined) throw await missing(kind, namespace, name, reader);
  const events = await reader.eventsAbout(object);
  const now = system.now();
  const explained = explainAnswer({
    object,
    owners: await ownersOf(object, { reader, kinds, seen: new Set([object.metadata.uid]) }),
    needsController: [IPSet, AddressClaim].some((own) => own.group === kind.group && own.kind === kind.kind),
    now,
    ...(await special(kind, object, { reader, events, now })),
    events: events.map((event) => ({
      time: whenOf(event),
      type: event.type,
      reason: event.reason,
      message: event.message,
      count: event.count ?? 1,
    })),
  });
  terminal.print(output === 'json' ? JSON.stringify(explained, null, 2) : explainText(explained, now));
  warnOf(reader, terminal);
  return isFine(explained) ? 0 : 1;
}

async function missing(kind: ServedKind, namespace: string, name: string, reader: Reader): Promise<CommandError> {
  const where = kind.namespaced ? ` in namespace ${namespace}` : '';
  const elsewhere = kind.namespaced ? await reader.named(kind, name) : [];
  const namespaces = elsewhere.map(({ metadata }) => metadata.namespace ?? '');
  if (namespaces.length > 0) {
    const others = namespaces.join(', ');
    return new CommandError(
      `there is no ${kind.kind} "${name}"${where}, but one in ${others}: add -n ${namespaces[0]}`,
    );
  }
  const names = (await reader.some(kind, namespace, MOST_NAMES)).map(({ metadata }) => metadata.name);
  const none = kind.namespaced ? ` That namespace has no ${kind.kind}.` : ` There is no ${kind.kind} at all.`;
  const hint = names.length === 0 ? none : suggestion(name, names);
  return new CommandError(`there is no ${kind.kind} "${name}"${where}.${hint}`);
}

interface Climb {
  readonly reader: Reader;
  readonly kinds: ServedKinds;
  /** An object that is its own ancestor would be climbed for ever. */
  readonly seen: ReadonlySet<string>;
}

async function ownersOf(object: ApiObject, { reader, kinds, seen }: Climb): Promise<Owner[]> {
  const { ownerReferences = [], namespace = '' } = object.metadata;
  const unseen = ownerReferences.filter(({ uid }) => !seen.has(uid)).slice(0, MOST_OWNERS);
  const owners = unseen.map(async (reference): Promise<Owner[]> => {
    const kind = kinds.of(reference.apiVersion, reference.kind);
    // What the server does not serve here may well exist.
    if (kind === undefined) return [];
    const at = kind.namespaced ? namespace : '';
    const found = await reader.look(kind, at, reference.name);
    if (found === 'hidden') return [];
    const owner = found?.metadata.uid === reference.uid ? found : undefined;
    const above =
      owner === undefined || seen.size >= MOST_OWNERS
        ? []
        : await ownersOf(owner, { reader, kinds, seen: new Set([...seen, reference.uid]) });
    return [{ reference, namespace: at, object: owner, owners: above }];
  });
  return (await Promise.all(owners)).flat();
}

const MOST_OWNERS = 8;
const MOST_NAMES = 500;
