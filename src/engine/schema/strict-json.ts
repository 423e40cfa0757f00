import { isUtf8 } from 'node:buffer';
import type { Json } from '../../api/json.ts';
import { badRequest } from '../../api/status.ts';
import { MAX_DEPTH } from './depth.ts';
import { PathList } from './path-list.ts';

export interface ParsedJson {
  readonly value: Json;
  /** Dotted paths of fields that an object names more than once; the last one counts. */
  readonly duplicates: string[];
}

/** Reads a body and notes the fields that are there twice. */
export function parseJson(source: string | Buffer): ParsedJson {
  const text = textOf(source);
  const value = parsed(text);
  const members = requireSound(value);
  return {
    value: repaired(value, text),
    duplicates: members === membersIn(text) ? [] : duplicateFields(text),
  };
}

/** Reads a body whose duplicate fields are nobody's concern. */
export function parseJsonValue(source: string | Buffer): Json {
  const text = textOf(source);
  const value = parsed(text);
  requireSound(value);
  return repaired(value, text);
}

/**
 * Refuses what no part of the engine can handle, whatever format it came in: values nested too deeply, and numbers that
 * JSON cannot write down again. Answers with the number of object members, all levels together.
 */
export function requireSound(value: Json): number {
  return soundMembers(value, 0);
}

function soundMembers(value: Json, depth: number): number {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw badRequest('the body holds a number that is too large for a 64-bit float; write it as a string');
  }
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === MAX_DEPTH) {
    throw badRequest(`the body nests objects and arrays more than ${MAX_DEPTH} levels deep; flatten it`);
  }
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) members += soundMembers(item, depth + 1);
  } else {
    for (const key in value) members += 1 + soundMembers(value[key] ?? null, depth + 1);
  }
  return members;
}

/** Dotted paths (`spec.tags[0].name`) of the fields named twice in a text that is known to be JSON. One pass. */
export function duplicateFields(text: string): string[] {
  const found = new PathList();
  const open: Container[] = [];
  let keyFollows = false;
  for (let at = 0; at < text.length; at++) {
    const container = open.at(-1);
    switch (text.charCodeAt(at)) {
      case OPEN_OBJECT:
        open.push({ keys: new Set(), at: '' });
        keyFollows = true;
        break;
      case OPEN_ARRAY:
        open.push({ keys: undefined, at: 0 });
        keyFollows = false;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        open.pop();
        keyFollows = false;
        break;
      case COMMA:
        keyFollows = container?.keys !== undefined;
        if (container !== undefined && typeof container.at === 'number') container.at++;
        break;
      case QUOTE: {
        const end = endOfString(text, at);
        if (keyFollows && container?.keys !== undefined) {
          const key = decoded(text.slice(at, end + 1));
          container.at = key;
          if (container.keys.has(key)) found.add(open.map((each) => each.at));
          container.keys.add(key);
          keyFollows = false;
        }
        at = end;
        break;
      }
    }
  }
  return found.paths;
}

interface Container {
  /** The keys so far; undefined in arrays. */
  readonly keys: Set<string> | undefined;
  /** The current key or index. */
  at: string | number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** How many `key: value` pairs are written; more than the parsed value has means that some are there twice. */
function membersIn(text: string): number {
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = endOfString(text, at);
    else if (char === COLON) members++;
  }
  return members;
}

function endOfString(text: string, start: number): number {
  let end = start;
  while (true) {
    end = text.indexOf('"', end + 1);
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
  }
}

const decoded = (quoted: string): string => (quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1));

function textOf(source: string | Buffer): string {
  if (typeof source === 'string') {
    if (source.isWellFormed()) return source;
  } else if (isUtf8(source)) return source.toString('utf8');
  throw badRequest('the body is not valid UTF-8');
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`the body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/** Half a character, which only an escape can smuggle in, becomes U+FFFD: nothing else could be stored as UTF-8. */
const repaired = (value: Json, text: string): Json => (SURROGATE_ESCAPE.test(text) ? wellFormed(value) : value);

function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}
