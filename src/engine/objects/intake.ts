import type { JsonObject } from '../../api/json.ts';
import { isJsonObject } from '../../api/json.ts';
import { badRequest } from '../../api/status.ts';
import type { Endpoint } from '../resources/resource.ts';
import { applyDefaults } from '../schema/defaults.ts';
import { prune } from '../schema/prune.ts';
import type { Target, WriteOptions } from './context.ts';

/** An object as a client sent it, with the fields that it named twice. */
export interface Submission {
  readonly object: JsonObject;
  readonly duplicates: readonly string[];
}

/**
 * Brings an object into the shape of its kind: unknown fields go (or are refused, as the client wishes), defaults come.
 */
export function takeIn(endpoint: Endpoint, { object, duplicates }: Submission, options: WriteOptions): void {
  const unknown = prune(object, endpoint.schema);
  if (options.fieldValidation !== 'Ignore') {
    const problems = [
      ...unknown.map((path) => `unknown field "${path}"`),
      ...duplicates.map((path) => `duplicate field "${path}"`),
    ];
    if (problems.length > 0 && options.fieldValidation === 'Strict') {
      const { kind } = endpoint.resource;
      throw badRequest(
        `${kind} in version "${endpoint.version}" cannot be handled as a ${kind}: strict decoding error: ${problems.join(', ')}`,
      );
    }
    options.warnings.push(...problems);
  }
  fillIn(endpoint, object);
}

export function fillIn(endpoint: Endpoint, object: JsonObject): void {
  applyDefaults(object, endpoint.schema);
  endpoint.resource.rules.defaults(object);
}

/** The object must be what its path says: kind, version, namespace and (when it has one) name. */
export function requireIdentity(target: Target, object: JsonObject): JsonObject {
  const { endpoint, namespace, name } = target;
  const { kind } = endpoint.resource;
  // Built-in kinds are known by the address; custom ones must say what they are.
  const saysNothing = object['kind'] === undefined && object['apiVersion'] === undefined;
  if (saysNothing && endpoint.resource.definition === undefined) {
    object['kind'] = kind;
    object['apiVersion'] = endpoint.apiVersion;
  }
  if (object['kind'] !== kind || object['apiVersion'] !== endpoint.apiVersion) {
    throw badRequest(
      `the object provided is ${JSON.stringify(object['kind'] ?? '')} of apiVersion ${JSON.stringify(object['apiVersion'] ?? '')}, but this address takes ${kind} of ${endpoint.apiVersion}`,
    );
  }
  if (object['metadata'] === undefined || object['metadata'] === null) object['metadata'] = {};
  const metadata = object['metadata'];
  if (!isJsonObject(metadata)) throw badRequest('metadata must be an object');
  const given = metadata['namespace'] ?? '';
  if (given !== '' && given !== namespace) {
    throw badRequest(
      `the namespace of the provided object does not match the namespace sent on the request: the object says ${JSON.stringify(given)}, the request "${namespace}"`,
    );
  }
  if (namespace === '') delete metadata['namespace'];
  else metadata['namespace'] = namespace;
  if (name !== '') {
    const givenName = metadata['name'] ?? '';
    if (givenName === '') metadata['name'] = name;
    else if (givenName !== name) {
      throw badRequest(`the name of the object (${givenName}) does not match the name on the URL (${name})`);
    }
  }
  return metadata;
}
