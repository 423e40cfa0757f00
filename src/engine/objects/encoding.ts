import type { JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import type { Endpoint } from '../resources/resource.ts';
import { applyDefaults } from '../schema/defaults.ts';
import { prune } from '../schema/prune.ts';
import type { Version } from '../store/version.ts';
import { SharedObjects } from './shared-objects.ts';

/** Enough for all that is under way at once. */
export const shared = new SharedObjects({ generationBytes: 8 * 1024 * 1024 });

export const decode = (bytes: Buffer): JsonObject => JSON.parse(bytes.toString('utf8'));

/** The encoded form of an object as it stands at a revision. The object is shared from then on, and must not be changed. */
export function encodeAt(object: JsonObject, revision: number): Buffer {
  metadataOf(object)['resourceVersion'] = String(revision);
  const bytes = Buffer.from(JSON.stringify(object));
  shared.share(bytes, object);
  return bytes;
}

/**
 * The bytes of a stored object as an endpoint shows them. Nearly always these are the stored bytes themselves, shared by
 * every reader; only another version, or a schema that is newer than the object, makes a new form, which is kept for as long as
 * the stored version lives.
 */
export function view(endpoint: Endpoint, version: Version): Buffer {
  if (isAsStored(endpoint, version)) return version.bytes;
  const shown = views.get(endpoint) ?? new WeakMap<Version, Buffer>();
  views.set(endpoint, shown);
  let bytes = shown.get(version);
  if (bytes === undefined) {
    bytes = Buffer.from(JSON.stringify(toEndpoint(endpoint, version)));
    shown.set(version, bytes);
  }
  return bytes;
}

/** Endpoints are made anew when their schema changes, so a form made for the old schema is never found again. */
const views = new WeakMap<Endpoint, WeakMap<Version, Buffer>>();

/** A fresh copy of a stored object in the endpoint's version, for the caller to change. */
export const objectOf = (endpoint: Endpoint, version: Version): JsonObject => toEndpoint(endpoint, version);

/** The same for who only looks at it: it may be shared, and must not be changed. */
export const sharedObjectOf = (endpoint: Endpoint, version: Version): JsonObject =>
  isAsStored(endpoint, version) ? shared.of(version.bytes) : toEndpoint(endpoint, version);

/** Whether the endpoint shows an object exactly as it is stored. */
const isAsStored = ({ resource, version, fromStorage }: Endpoint, { revision }: Version): boolean =>
  revision >= resource.schemaRevision && version === resource.storageVersion && fromStorage === undefined;

/** The stored form of an object that came through an endpoint. */
export function toStorage(endpoint: Endpoint, object: JsonObject): JsonObject {
  const { resource } = endpoint;
  const stored = endpoint.toStorage?.(object) ?? object;
  if (endpoint.version === resource.storageVersion) return stored;
  const apiVersion = resource.group === '' ? resource.storageVersion : `${resource.group}/${resource.storageVersion}`;
  return { ...stored, apiVersion };
}

function toEndpoint(endpoint: Endpoint, { bytes, revision }: Version): JsonObject {
  const stored = decode(bytes);
  const object = endpoint.fromStorage?.(stored) ?? stored;
  object['apiVersion'] = endpoint.apiVersion;
  if (revision < endpoint.resource.schemaRevision) {
    prune(object, endpoint.schema);
    applyDefaults(object, endpoint.schema);
  }
  return object;
}
