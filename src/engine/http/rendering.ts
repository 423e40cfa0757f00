import { stringify as stringifyYaml } from 'yaml';
import type { Json, JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import type { ApiError } from '../../api/status.ts';
import { objectOf, sharedObjectOf, view } from '../objects/encoding.ts';
import type { Listing } from '../objects/list.ts';
import type { EventFormat } from '../objects/watch.ts';
import type { Column, Endpoint } from '../resources/resource.ts';
import type { Version } from '../store/version.ts';
import type { Answer } from './call.ts';
import type { Accepted } from './negotiation.ts';
import { columnDefinitions, type IncludeObject, rowOf, tableHead } from './table.ts';

export interface Rendering {
  readonly accepted: Accepted;
  readonly endpoint: Endpoint;
  /** Of tables. */
  readonly columns: readonly Column[];
  readonly includeObject: IncludeObject;
  readonly isPretty: boolean;
  now(): Date;
}

/** One object as the client wants to see it. */
export function renderOne(code: number, bytes: Buffer, rendering: Rendering, warnings: readonly string[] = []): Answer {
  const { accepted } = rendering;
  if (accepted.as === 'object' && accepted.encoding === 'json' && !rendering.isPretty) {
    return { code, contentType: accepted.contentType, chunks: [bytes], warnings };
  }
  const object: JsonObject = JSON.parse(bytes.toString('utf8'));
  const shown =
    accepted.as === 'table'
      ? {
          ...tableHead({ resourceVersion: metadataOf(object)['resourceVersion'] ?? '' }),
          columnDefinitions: columnDefinitions(rendering.columns),
          rows: [rowOf(object, rendering.columns, rendering.includeObject, rendering.now())],
        }
      : accepted.as === 'metadata'
        ? metadataOnly(object)
        : object;
  return { code, contentType: accepted.contentType, chunks: [encode(shown, rendering)], warnings };
}

/** A list. The plain form is the stored bytes with commas in between: nothing is decoded to be encoded again. */
export function renderList(listing: Listing, rendering: Rendering): Answer {
  const { accepted, endpoint } = rendering;
  const metadata: JsonObject = {
    resourceVersion: String(listing.revision),
    ...(listing.continue === undefined ? {} : { continue: listing.continue }),
    ...(listing.remaining === undefined ? {} : { remainingItemCount: listing.remaining }),
  };
  const answer = (chunks: Buffer[]): Answer => ({ code: 200, contentType: accepted.contentType, chunks });
  if (accepted.as === 'table') {
    const now = rendering.now();
    const rows = listing.versions.map((version) =>
      rowOf(objectOf(endpoint, version), rendering.columns, rendering.includeObject, now),
    );
    return answer([
      encode({ ...tableHead(metadata), columnDefinitions: columnDefinitions(rendering.columns), rows }, rendering),
    ]);
  }
  if (accepted.as === 'metadata') {
    const items = listing.versions.map((version) => metadataOnly(objectOf(endpoint, version)));
    const list = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata, items };
    return answer([encode(list, rendering)]);
  }
  const head = { kind: endpoint.resource.listKind, apiVersion: endpoint.apiVersion, metadata };
  if (accepted.encoding === 'yaml' || rendering.isPretty) {
    return answer([encode({ ...head, items: listing.versions.map((each) => objectOf(endpoint, each)) }, rendering)]);
  }
  const chunks: Buffer[] = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`)];
  for (const [i, version] of listing.versions.entries()) {
    if (i > 0) chunks.push(COMMA);
    chunks.push(view(endpoint, version));
  }
  chunks.push(LIST_END);
  return answer(chunks);
}

const COMMA = Buffer.from(',');
const LIST_END = Buffer.from(']}');

/** How the events of a watch look to this client. Frames of plain objects are made once and shared by all who watch. */
export function eventFormat(rendering: Rendering): EventFormat<Buffer> {
  const { accepted, endpoint } = rendering;
  let hasColumns = false;
  const frame = (type: string, object: unknown) => Buffer.from(`${JSON.stringify({ type, object })}\n`);
  const table = (object: JsonObject) => {
    const shown = {
      ...tableHead({ resourceVersion: metadataOf(object)['resourceVersion'] ?? '' }),
      // Only the first event of a stream carries them.
      columnDefinitions: hasColumns ? null : columnDefinitions(rendering.columns),
      rows: [rowOf(object, rendering.columns, rendering.includeObject, rendering.now())],
    };
    hasColumns = true;
    return shown;
  };
  return {
    change: (type, version) => {
      if (accepted.as === 'object') return sharedFrame(endpoint, type, version);
      const object = objectOf(endpoint, version);
      return frame(type, accepted.as === 'table' ? table(object) : metadataOnly(object));
    },
    bookmark: (revision, isEnd) => {
      const object = bookmarkObject(endpoint, revision, isEnd);
      if (accepted.as === 'metadata') return frame('BOOKMARK', metadataOnly(object));
      if (accepted.as !== 'table') return frame('BOOKMARK', object);
      return frame('BOOKMARK', {
        ...tableHead({ resourceVersion: String(revision) }),
        columnDefinitions: null,
        rows: [{ cells: [], object }],
      });
    },
    error: (error: ApiError) => frame('ERROR', error.status),
  };
}

/** Events as values, for who shares the process. Plain objects are never written out to be read again; they are shared. */
export function objectFormat(rendering: Rendering): EventFormat<JsonObject> {
  const { accepted, endpoint } = rendering;
  if (accepted.as !== 'object') {
    const format = eventFormat(rendering);
    return {
      change: (type, version) => JSON.parse(format.change(type, version).toString()),
      bookmark: (revision, isEnd) => JSON.parse(format.bookmark(revision, isEnd).toString()),
      error: (error) => JSON.parse(format.error(error).toString()),
    };
  }
  return {
    change: (type, version) => ({ type, object: sharedObjectOf(endpoint, version) }),
    bookmark: (revision, isEnd) => ({ type: 'BOOKMARK', object: bookmarkObject(endpoint, revision, isEnd) }),
    error: ({ status }) => ({ type: 'ERROR', object: JSON.parse(JSON.stringify(status)) }),
  };
}

function bookmarkObject(endpoint: Endpoint, revision: number, isEnd: boolean): JsonObject {
  const annotations = isEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  const metadata = { resourceVersion: String(revision), creationTimestamp: null, ...annotations };
  return { kind: endpoint.resource.kind, apiVersion: endpoint.apiVersion, metadata };
}

/** The last frames made for an endpoint: watchers get the same change in the same moment, and share its bytes. */
const recentFrames = new WeakMap<Endpoint, Map<Version, { type: string; frame: Buffer }>>();
const FRAMES_KEPT = 512;

function sharedFrame(endpoint: Endpoint, type: string, version: Version): Buffer {
  const frames = recentFrames.get(endpoint) ?? new Map<Version, { type: string; frame: Buffer }>();
  recentFrames.set(endpoint, frames);
  const known = frames.get(version);
  if (known?.type === type) return known.frame;
  const frame = Buffer.concat([Buffer.from(`{"type":"${type}","object":`), view(endpoint, version), FRAME_END]);
  if (frames.size >= FRAMES_KEPT) frames.clear();
  frames.set(version, { type, frame });
  return frame;
}

const FRAME_END = Buffer.from('}\n');

const metadataOnly = (object: JsonObject): JsonObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: metadataOf(object),
});

export function encode(value: Json | object, rendering: Pick<Rendering, 'accepted' | 'isPretty'>): Buffer {
  if (rendering.accepted.encoding === 'yaml')
    return Buffer.from(stringifyYaml(value, { aliasDuplicateObjects: false }));
  return Buffer.from(rendering.isPretty ? `${JSON.stringify(value, null, 2)}\n` : JSON.stringify(value));
}
