import type { JsonObject } from '../../api/json.ts';
import { type ApiError, badRequest, expired, type FieldError, invalid } from '../../api/status.ts';
import { groupOf } from '../resources/catalog.ts';
import { Compacted } from '../store/errors.ts';
import type { StoredEvent, Version } from '../store/version.ts';
import type { Context, Target } from './context.ts';
import { decode, encodeAt, sharedObjectOf } from './encoding.ts';
import { numberIn, revisionOf, waitUntilFresh } from './list.ts';
import { type Selection, selection } from './selection.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** Turns what happened into what one kind of client gets: bytes of plain objects, of tables, of metadata, or the objects. */
export interface EventFormat<Frame> {
  change(type: 'ADDED' | 'MODIFIED' | 'DELETED', version: Version): Frame;
  bookmark(revision: number, isEndOfInitialEvents: boolean): Frame;
  error(error: ApiError): Frame;
}

/** The client's end of a watch. */
export interface Sink<Frame> {
  /** Called once, when the watch is accepted: from then on there is an answer, though maybe an empty one for long. */
  open(): void;
  send(frame: Frame): void;
  /** Bytes that the client has not taken yet. */
  readonly backlog: number;
  /** Resolves when the client has taken most of its backlog, or is gone. */
  drained(): Promise<void>;
  end(): void;
  /** Cuts the client off. */
  drop(reason: string): void;
}

/** A client that is further behind than this will not catch up: it is dropped and lists again when it can. */
const LARGEST_BACKLOG = 32 * 1024 * 1024;
const BOOKMARK_EVERY = 60_000;

/** Follows a collection until the client goes, falls too far behind, or its time is up. Returns how to stop it. */
export async function watch<Frame>(
  context: Context,
  target: Target,
  query: URLSearchParams,
  format: EventFormat<Frame>,
  sink: Sink<Frame>,
): Promise<() => void> {
  const { endpoint } = target;
  const wishes = readWishes(query);
  const wanted = selection(endpoint, query);
  await waitUntilFresh(context, wishes.version);
  const feed = new Feed(target, wanted, format, sink);
  const startsWithState = wishes.sendsInitialEvents ?? (wishes.version === '' || wishes.version === '0');
  const from = startsWithState ? context.store.revision : revisionOf(wishes.version);
  let subscription: { close(): void };
  try {
    subscription = context.store.watch(
      {
        resource: endpoint.resource.id,
        ...(target.namespace === '' ? {} : { namespace: target.namespace }),
        after: from,
      },
      (events) => feed.push(events),
    );
  } catch (error) {
    if (!(error instanceof Compacted)) throw error;
    sink.open();
    sink.send(format.error(expired(`too old resource version: ${from} (${error.oldest})`)));
    sink.end();
    return () => {};
  }
  sink.open();
  const timers: NodeJS.Timeout[] = [];
  const stop = () => {
    forget();
    subscription.close();
    for (const timer of timers) clearTimeout(timer);
    feed.close();
  };
  // When the kind is not served any more, or under another schema, the client comes again and sees for itself.
  const forget = context.catalog.onChange(() => {
    if (context.catalog.endpoint(groupOf(endpoint.apiVersion), endpoint.version, endpoint.resource.plural) === endpoint)
      return;
    stop();
    sink.end();
  });
  const bookmark = () => {
    if (wishes.wantsBookmarks) feed.bookmark(context.store.revision);
  };
  timers.push(
    setInterval(bookmark, BOOKMARK_EVERY),
    setTimeout(() => {
      bookmark();
      stop();
      sink.end();
    }, wishes.seconds * 1000),
  );
  if (startsWithState) {
    const state = context.store.list({
      resource: endpoint.resource.id,
      ...(target.namespace === '' ? {} : { namespace: target.namespace }),
      at: from,
    });
    await feed.begin(state.versions, wishes.sendsInitialEvents === true ? from : undefined);
  } else {
    await feed.begin([], undefined);
  }
  return stop;
}

interface Wishes {
  version: string;
  wantsBookmarks: boolean;
  sendsInitialEvents: boolean | undefined;
  seconds: number;
}

function readWishes(query: URLSearchParams): Wishes {
  const initial = query.get('sendInitialEvents');
  const match = query.get('resourceVersionMatch') ?? '';
  const faults: FieldError[] = [];
  if (initial !== null && match !== 'NotOlderThan') {
    faults.push({
      type: 'Forbidden',
      field: 'resourceVersionMatch',
      detail: 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    });
  }
  if (initial === null && match !== '') {
    faults.push({
      type: 'Forbidden',
      field: 'resourceVersionMatch',
      detail: 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    });
  }
  if (faults.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', faults);
  if (query.has('continue')) throw badRequest('continue is not supported on a watch: it has no pages');
  // Spread over half an hour, so that clients that came together do not all come back together.
  const seconds = numberIn(query, 'timeoutSeconds') || 1800 * (1 + Math.random());
  return {
    version: query.get('resourceVersion') ?? '',
    wantsBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendsInitialEvents: initial === null ? undefined : isTrue(initial),
    // A timer that is set further ahead than this fires at once.
    seconds: Math.min(seconds, 2_000_000),
  };
}

export const isTrue = (text: string | null): boolean => text === 'true' || text === '1';

/** Brings state and changes to one client in order, whatever pace it takes them at. */
class Feed<Frame> {
  readonly #target: Target;
  readonly #wanted: Selection;
  readonly #format: EventFormat<Frame>;
  readonly #sink: Sink<Frame>;
  /** Changes that came while the state at the beginning was still on its way. */
  #waiting: StoredEvent[] | undefined = [];
  #isClosed = false;

  constructor(target: Target, wanted: Selection, format: EventFormat<Frame>, sink: Sink<Frame>) {
    this.#target = target;
    this.#wanted = wanted;
    this.#format = format;
    this.#sink = sink;
  }

  async begin(state: readonly Version[], bookmarkAt: number | undefined): Promise<void> {
    for (const [i, version] of state.entries()) {
      if (this.#isClosed) return;
      if (!this.#matches(version)) continue;
      this.#sink.send(this.#format.change('ADDED', version));
      if (i % 64 === 63 && this.#sink.backlog > LARGEST_BACKLOG / 8) await this.#sink.drained();
    }
    if (bookmarkAt !== undefined) this.#sink.send(this.#format.bookmark(bookmarkAt, true));
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    this.push(waiting);
  }

  push(events: readonly StoredEvent[]): void {
    if (this.#isClosed || events.length === 0) return;
    if (this.#waiting !== undefined) {
      for (const event of events) this.#waiting.push(event);
      return;
    }
    for (const event of events) {
      const type = this.#typeOf(event);
      if (type === undefined) continue;
      const { current, previous } = event;
      const hasLeft = type === 'DELETED' && event.type === 'MODIFIED' && previous !== undefined;
      this.#sink.send(this.#format.change(type, hasLeft ? asOf(current.revision, previous) : current));
    }
    if (this.#sink.backlog > LARGEST_BACKLOG) {
      this.close();
      this.#sink.drop('the client is too slow for what it watches');
    }
  }

  bookmark(revision: number): void {
    if (!this.#isClosed && this.#waiting === undefined) this.#sink.send(this.#format.bookmark(revision, false));
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting = undefined;
  }

  /** What a change is to a client that sees only a part: an object that comes to match appears, one that ceases to vanishes. */
  #typeOf(event: StoredEvent): 'ADDED' | 'MODIFIED' | 'DELETED' | undefined {
    if (this.#wanted.isEverything) return event.type;
    const did = event.previous !== undefined && this.#matches(event.previous);
    const does = event.type !== 'DELETED' && this.#matches(event.current);
    if (did && does) return 'MODIFIED';
    if (did) return 'DELETED';
    return does ? 'ADDED' : undefined;
  }

  #matches(version: Version): boolean {
    return this.#wanted.isEverything || this.#wanted.matches(this.#objectOf(version));
  }

  #objectOf(version: Version): JsonObject {
    return sharedObjectOf(this.#target.endpoint, version);
  }
}

/** What ceases to match is shown as it last matched, so that clients find it by what they knew of it; only its version is new. */
const asOf = (revision: number, previous: Version): Version => ({
  ...previous,
  bytes: encodeAt(decode(previous.bytes), revision),
});
