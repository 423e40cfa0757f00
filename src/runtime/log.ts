import { ApiError } from '../api/status.ts';
import type { Clock } from './clock.ts';
import { timestamp } from './timestamp.ts';
import { Unreachable } from './transport.ts';

/**
 * One line for each thing worth knowing: `time level message key=value …`. Only plain values can be logged, never whole
 * objects: those may hold secrets.
 */
export interface Log {
  /** What helps to follow one object through the program; off unless asked for. */
  debug(message: string, fields?: LogFields): void;
  /** What an operator likes to know. */
  info(message: string, fields?: LogFields): void;
  /** What an operator should look at if it stays. */
  warn(message: string, fields?: LogFields): void;
  /** A fault of ours. */
  error(message: string, fields?: LogFields): void;
  /** A log whose lines carry these fields too. */
  with(fields: LogFields): Log;
}

export type LogFields = { readonly [key: string]: string | number | boolean | Error | undefined };
export type LogLevel = (typeof levels)[number];
const levels = ['debug', 'info', 'warn', 'error'] as const;

export interface LineLogOptions {
  clock: Clock;
  /** Receives whole lines, with their line break. */
  write: (line: string) => void;
  /** Lines below it are dropped. */
  level?: LogLevel;
}

export function lineLog({ clock, write, level = 'info' }: LineLogOptions, context: LogFields = {}): Log {
  const lowest = levels.indexOf(level);
  const at =
    (name: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (levels.indexOf(name) < lowest) return;
      const pairs = Object.entries({ ...context, ...fields }).map(([key, value]) => pair(key, value));
      write(`${[timestamp(clock.now()), name, oneLine(message), ...pairs.filter((text) => text !== '')].join(' ')}\n`);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => lineLog({ clock, write, level }, { ...context, ...fields }),
  };
}

export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLog,
};

/** Whatever was thrown, as an Error. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** Refusals and outages explain themselves by their message; the stack of anything else leads to our mistake. */
export const isFaultOfOurs = (error: Error): boolean => !(error instanceof ApiError || error instanceof Unreachable);

function pair(key: string, value: LogFields[string]): string {
  if (value === undefined) return '';
  if (SECRET_NAME.test(key)) return `${key}=***`;
  if (value instanceof Error)
    return `${key}=${quoted(isFaultOfOurs(value) ? (value.stack ?? value.message) : value.message)}`;
  return `${key}=${typeof value === 'string' ? quoted(value) : String(value)}`;
}

const SECRET_NAME = /token|password|secret|credential|authorization|private/i;
/** What an Authorization header carries, should an error quote one. */
const BEARER = /\bBearer\s+[\w.~+/=-]+/gi;

const hidden = (text: string): string => text.replace(BEARER, 'Bearer ***');
const oneLine = (text: string): string => hidden(text).replace(CONTROL, (character) => escapes(character));
const quoted = (text: string): string =>
  text !== '' && !/[\s"=\\]|\p{C}/u.test(text) ? hidden(text) : `"${hidden(text).replace(UNSAFE, escapes)}"`;

const CONTROL = /\p{C}|[\u2028\u2029]/gu;
const UNSAFE = /["\\]|\p{C}|[\u2028\u2029]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '"': '\\"', '\\': '\\\\' };
const escapes = (character: string): string =>
  SHORT[character] ?? `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
