import { parse as parseYaml } from 'yaml';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { badRequest, unsupportedMediaType } from '../../api/status.ts';
import { decodeProtobufObject } from '../builtin/protobuf.ts';
import type { Submission } from '../objects/intake.ts';
import { parseJson, requireSound } from '../schema/strict-json.ts';
import type { Call } from './call.ts';
import { PROTOBUF_TYPE } from './negotiation.ts';

/** 3 MiB: what kube-apiserver takes, and more than any object should be. */
export const LARGEST_BODY = 3 * 1024 * 1024;

export const mediaTypeOf = (contentType: string | undefined): string =>
  (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** The object in a request body: JSON, YAML, or the protobuf that kubectl sends for built-in kinds. */
export async function objectIn(call: Call): Promise<Submission> {
  const type = mediaTypeOf(call.contentType);
  const there = call.value?.();
  if (isJsonObject(there)) return { object: there, duplicates: [] };
  const body = await call.body();
  if (type === PROTOBUF_TYPE) return { object: decodeProtobufObject(body), duplicates: [] };
  const { value, duplicates } = decoded(body, type);
  if (!isJsonObject(value)) throw badRequest('the body of the request must be an object');
  return { object: value, duplicates };
}

/** A body that is some JSON value: a patch. `type` is JSON or YAML by another name. */
export async function valueIn(call: Call, type: string): Promise<{ value: Json; duplicates: readonly string[] }> {
  const there = call.value?.();
  if (there !== undefined) return { value: there, duplicates: [] };
  return decoded(await call.body(), type.endsWith('yaml') ? 'application/yaml' : 'application/json');
}

/** Options in the body of a DELETE; none are as good as empty ones. */
export async function optionsIn(call: Call): Promise<JsonObject> {
  const body = await call.body();
  if (body.length === 0) return {};
  const type = mediaTypeOf(call.contentType);
  if (type === PROTOBUF_TYPE) return decodeProtobufObject(body);
  const { value } = decoded(body, type);
  if (!isJsonObject(value)) throw badRequest('the body of the request must be an object: DeleteOptions');
  return value;
}

function decoded(body: Buffer, type: string): { value: Json; duplicates: readonly string[] } {
  switch (type) {
    case '':
    case 'application/json':
      return parseJson(body);
    case 'application/yaml':
    case 'application/x-yaml':
      return yamlIn(body);
    default:
      throw unsupportedMediaType(
        `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, ${PROTOBUF_TYPE}`,
      );
  }
}

function yamlIn(body: Buffer): { value: Json; duplicates: readonly string[] } {
  // JSON is YAML, and by far the most common: the fast parser goes first.
  if (body[0] === OPENING_BRACE) {
    try {
      return parseJson(body);
    } catch {
      // Flow-style YAML that is not JSON: the full parser decides.
    }
  }
  let value: Json;
  try {
    // A few aliases serve people; many are how a small text becomes a huge value.
    value = parseYaml(body.toString('utf8'), { maxAliasCount: 100, uniqueKeys: true, schema: 'core' });
  } catch (error) {
    throw badRequest(`error parsing YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
  requireSound(value);
  return { value, duplicates: [] };
}

const OPENING_BRACE = '{'.charCodeAt(0);
