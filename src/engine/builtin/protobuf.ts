import type { Json, JsonObject } from '../../api/json.ts';
import { badRequest } from '../../api/status.ts';
import { MAX_DEPTH } from '../schema/depth.ts';
import { requireSound } from '../schema/strict-json.ts';
import { readSpecial, SPECIAL_TYPES } from './protobuf-special.ts';
import { WireReader, type WireType } from './protobuf-wire.ts';
import { type MessageField, publishedMessages } from './published.ts';
import { setKey } from './reading.ts';

/**
 * The object in a request body of type application/vnd.kubernetes.protobuf, in the form that JSON would have had. kubectl
 * sends such bodies for built-in kinds, and never asks again with JSON.
 */
export function decodeProtobufObject(body: Buffer): JsonObject {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw badRequest('the body is not Kubernetes protobuf: it does not begin with the bytes 6b 38 73 00');
  }
  const envelope = readEnvelope(new WireReader(body, 'the envelope', MAGIC.length));
  const { apiVersion, kind } = envelope;
  const message = messageOf(apiVersion, kind);
  const object: JsonObject = { kind, apiVersion };
  readMessage(new WireReader(envelope.raw, message), message, object, 0);
  // JSON nests deeper than the messages do (lists), and has no numbers without end.
  requireSound(object);
  return object;
}

/** `k8s` and a zero byte. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

interface Envelope {
  apiVersion: string;
  kind: string;
  raw: Buffer;
}

function readEnvelope(reader: WireReader): Envelope {
  const envelope: Envelope = { apiVersion: '', kind: '', raw: Buffer.alloc(0) };
  for (let field = reader.nextField(); field !== 0; field = reader.nextField()) {
    if (reader.wireType !== 'bytes') reader.skip();
    else if (field === 1) readTypeMeta(reader.message('the envelope'), envelope);
    else if (field === 2) envelope.raw = reader.bytes();
    else if (field === 3 || field === 4) requireNone(reader.text(), field === 3 ? 'contentEncoding' : 'contentType');
    else reader.skip();
  }
  return envelope;
}

function readTypeMeta(reader: WireReader, envelope: Envelope): void {
  for (let field = reader.nextField(); field !== 0; field = reader.nextField()) {
    if (reader.wireType !== 'bytes') reader.skip();
    else if (field === 1) envelope.apiVersion = reader.text();
    else if (field === 2) envelope.kind = reader.text();
    else reader.skip();
  }
}

function requireNone(text: string, what: string): void {
  if (text === '') return;
  throw badRequest(
    `the protobuf body has the ${what} ${JSON.stringify(text)}: only plain protobuf messages are understood`,
  );
}

function messageOf(apiVersion: string, kind: string): string {
  if (kind === '') throw badRequest('the protobuf body does not say of which kind its object is');
  // Options go by the name of whatever group they are for.
  if (kind === 'DeleteOptions') return 'meta.v1.DeleteOptions';
  const { kinds } = publishedMessages();
  const key = `${apiVersion}/${kind}`;
  const message = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
  if (message === undefined) {
    throw badRequest(
      `no kind ${JSON.stringify(kind)} of version ${JSON.stringify(apiVersion)} can be sent as protobuf: send JSON`,
    );
  }
  return message;
}

/** Reads the fields of a message into an object. Fields that nobody knows are passed over, as protobuf wants it. */
function readMessage(reader: WireReader, message: string, into: JsonObject, depth: number): void {
  if (depth >= MAX_DEPTH)
    throw badRequest(`the protobuf body nests messages more than ${MAX_DEPTH} levels deep; flatten it`);
  const fields = publishedMessages().messages[message] ?? {};
  for (let number = reader.nextField(); number !== 0; number = reader.nextField()) {
    const field = fields[number];
    if (field === undefined) reader.skip();
    else readField(reader, field, message, into, depth + 1);
  }
}

function readField(reader: WireReader, field: MessageField, message: string, into: JsonObject, depth: number): void {
  const [name, type, zero] = field;
  const what = `${message}.${name}`;
  if (name === '') {
    requireWire(reader, 'bytes', `${message} (${type})`);
    readMessage(reader.message(type), type, into, depth);
  } else if (type.startsWith('[]')) {
    readItems(reader, type.slice(2), what, listIn(into, name), depth);
  } else if (type.startsWith('map:')) {
    readEntry(reader, type.slice('map:'.length), what, objectIn(into, name), depth);
  } else {
    const value = readValue(reader, type, what, into[name], depth);
    // Go writes fields even when they hold nothing, and leaves those out of JSON, unless nothing is meant.
    if (value === null || (zero === undefined && value === SCALARS[type]?.zero)) delete into[name];
    else into[name] = value;
  }
}

function readItems(reader: WireReader, type: string, what: string, list: Json[], depth: number): void {
  const wire = SCALARS[type]?.wire;
  if (reader.wireType !== 'bytes' || wire === undefined || wire === 'bytes') {
    list.push(readValue(reader, type, what, undefined, depth));
    return;
  }
  // Numbers may stand one after another in a single field.
  const packed = reader.message(what);
  while (!packed.isAtEnd) list.push(SCALARS[type]?.read(packed) ?? null);
}

function readEntry(reader: WireReader, type: string, what: string, map: JsonObject, depth: number): void {
  requireWire(reader, 'bytes', what);
  const entry = reader.message(what);
  let key = '';
  let value: Json | undefined;
  for (let field = entry.nextField(); field !== 0; field = entry.nextField()) {
    if (field === 1 && entry.wireType === 'bytes') key = entry.text();
    else if (field === 2) value = readValue(entry, type, what, undefined, depth);
    else entry.skip();
  }
  setKey(map, key, value === undefined ? emptyOf(type) : value);
}

const emptyOf = (type: string): Json => SCALARS[type]?.zero ?? (type.startsWith('items:') ? [] : {});

function readValue(reader: WireReader, type: string, what: string, before: Json | undefined, depth: number): Json {
  const scalar = SCALARS[type];
  if (scalar !== undefined) {
    requireWire(reader, scalar.wire, what);
    return scalar.read(reader);
  }
  requireWire(reader, 'bytes', what);
  if (type.startsWith('items:')) {
    const list: Json[] = [];
    const items = reader.message(what);
    for (let field = items.nextField(); field !== 0; field = items.nextField()) {
      if (field === 1) list.push(readValue(items, type.slice('items:'.length), what, undefined, depth + 1));
      else items.skip();
    }
    return list;
  }
  const nested = (inner: WireReader): JsonObject => {
    const schema: JsonObject = {};
    readMessage(inner, 'apiextensions.v1.JSONSchemaProps', schema, depth + 1);
    return schema;
  };
  if (SPECIAL_TYPES.has(type)) return readSpecial(reader.message(what), type, what, nested);
  // A message that comes in parts is the sum of its parts.
  const object: JsonObject = typeof before === 'object' && before !== null && !Array.isArray(before) ? before : {};
  readMessage(reader.message(type), type, object, depth);
  return object;
}

interface Scalar {
  readonly wire: WireType;
  readonly zero: Json;
  read(reader: WireReader): Json;
}

const SCALARS: Readonly<Record<string, Scalar>> = {
  string: { wire: 'bytes', zero: '', read: (reader) => reader.text() },
  bytes: { wire: 'bytes', zero: '', read: (reader) => reader.bytes().toString('base64') },
  bool: { wire: 'varint', zero: false, read: (reader) => reader.integer(false) !== 0 },
  int32: { wire: 'varint', zero: 0, read: (reader) => reader.int32() },
  int64: { wire: 'varint', zero: 0, read: (reader) => reader.integer(true) },
  uint32: { wire: 'varint', zero: 0, read: (reader) => reader.integer(false) },
  uint64: { wire: 'varint', zero: 0, read: (reader) => reader.integer(false) },
  double: { wire: 'fixed64', zero: 0, read: (reader) => reader.double() },
};

function requireWire(reader: WireReader, wire: WireType, what: string): void {
  if (reader.wireType === wire) return;
  throw badRequest(`the protobuf body writes ${what} as ${reader.wireType}, but it is ${wire}`);
}

function listIn(holder: JsonObject, name: string): Json[] {
  const found = holder[name];
  if (Array.isArray(found)) return found;
  const made: Json[] = [];
  holder[name] = made;
  return made;
}

function objectIn(holder: JsonObject, name: string): JsonObject {
  const found = holder[name];
  if (typeof found === 'object' && found !== null && !Array.isArray(found)) return found;
  const made: JsonObject = {};
  holder[name] = made;
  return made;
}
