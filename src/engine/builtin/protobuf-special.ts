import type { Json, JsonObject } from '../../api/json.ts';
import { formatQuantity, parseQuantity, QUANTITY_FAULT } from '../../api/quantity.ts';
import { badRequest } from '../../api/status.ts';
import { parseJsonValue } from '../schema/strict-json.ts';
import type { WireReader } from './protobuf-wire.ts';

/** Reads a JSONSchemaProps. */
export type ReadSchema = (reader: WireReader) => JsonObject;
type ReadSpecial = (reader: WireReader, what: string, readSchema: ReadSchema) => Json;

/** Messages whose JSON is no object with a key for each field. They answer null for what JSON leaves out. */
const SPECIAL: Readonly<Record<string, ReadSpecial>> = {
  time: (reader, what) => readTime(reader, what, false),
  microTime: (reader, what) => readTime(reader, what, true),
  quantity: readQuantity,
  intOrString: readIntOrString,
  rawJson: readRawJson,
  schemaOrBool: readSchemaOrBool,
  schemaOrArray: readSchemaOrArray,
  schemaOrStrings: readSchemaOrStrings,
};

export const SPECIAL_TYPES: ReadonlySet<string> = new Set(Object.keys(SPECIAL));

export function readSpecial(reader: WireReader, type: string, what: string, readSchema: ReadSchema): Json {
  return SPECIAL[type]?.(reader, what, readSchema) ?? null;
}

/** Calls `read` with the number of each field; what it does not take (answers false) is passed over. */
function eachField(reader: WireReader, read: (field: number) => boolean): void {
  for (let field = reader.nextField(); field !== 0; field = reader.nextField()) if (!read(field)) reader.skip();
}

const FIRST_SECOND = Date.parse('0001-01-01T00:00:00Z') / 1000;
const LAST_SECOND = Date.parse('9999-12-31T23:59:59Z') / 1000;

/** No fields at all are the zero time, which is no time. */
function readTime(reader: WireReader, what: string, inMicroseconds: boolean): Json {
  if (reader.isAtEnd) return null;
  let seconds = 0;
  let nanos = 0;
  eachField(reader, (field) => {
    if (reader.wireType !== 'varint') return false;
    if (field === 1) seconds = reader.integer(true);
    else if (field === 2) nanos = reader.int32();
    else return false;
    return true;
  });
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND || nanos < 0 || nanos >= 1e9) {
    throw badRequest(`${what} of the protobuf body is no moment between the years 1 and 9999`);
  }
  const text = new Date(seconds * 1000).toISOString().slice(0, 19);
  const micros = Math.trunc(nanos / 1000);
  return inMicroseconds ? `${text}.${String(micros).padStart(6, '0')}Z` : `${text}Z`;
}

function readQuantity(reader: WireReader, what: string): Json {
  let text = '0';
  eachField(reader, (field) => {
    if (field !== 1 || reader.wireType !== 'bytes') return false;
    text = reader.text() || '0';
    return true;
  });
  const quantity = parseQuantity(text);
  if (quantity === undefined)
    throw badRequest(`${what} of the protobuf body is ${JSON.stringify(text)}: ${QUANTITY_FAULT}`);
  return formatQuantity(quantity);
}

function readIntOrString(reader: WireReader): Json {
  let isText = false;
  let number = 0;
  let text = '';
  eachField(reader, (field) => {
    if (field === 1 && reader.wireType === 'varint') isText = reader.integer(true) === 1;
    else if (field === 2 && reader.wireType === 'varint') number = reader.int32();
    else if (field === 3 && reader.wireType === 'bytes') text = reader.text();
    else return false;
    return true;
  });
  return isText ? text : number;
}

function readRawJson(reader: WireReader): Json {
  let value: Json = null;
  eachField(reader, (field) => {
    if (field !== 1 || reader.wireType !== 'bytes') return false;
    const raw = reader.bytes();
    value = raw.length === 0 ? null : parseJsonValue(raw);
    return true;
  });
  return value;
}

function readSchemaOrBool(reader: WireReader, _: string, readSchema: ReadSchema): Json {
  let value: Json = false;
  let schema: JsonObject | undefined;
  eachField(reader, (field) => {
    if (field === 1 && reader.wireType === 'varint') value = reader.integer(false) !== 0;
    else if (field === 2 && reader.wireType === 'bytes') schema = readSchema(reader.message('JSONSchemaProps'));
    else return false;
    return true;
  });
  return schema ?? value;
}

function readSchemaOrArray(reader: WireReader, _: string, readSchema: ReadSchema): Json {
  let schema: JsonObject | null = null;
  const list: JsonObject[] = [];
  eachField(reader, (field) => {
    if (reader.wireType !== 'bytes') return false;
    if (field === 1) schema = readSchema(reader.message('JSONSchemaProps'));
    else if (field === 2) list.push(readSchema(reader.message('JSONSchemaProps')));
    else return false;
    return true;
  });
  return list.length > 0 ? list : schema;
}

function readSchemaOrStrings(reader: WireReader, _: string, readSchema: ReadSchema): Json {
  let schema: JsonObject | null = null;
  const names: string[] = [];
  eachField(reader, (field) => {
    if (reader.wireType !== 'bytes') return false;
    if (field === 1) schema = readSchema(reader.message('JSONSchemaProps'));
    else if (field === 2) names.push(reader.text());
    else return false;
    return true;
  });
  return names.length > 0 ? names : schema;
}
