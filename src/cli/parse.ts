import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util';
import { type Command, type Option, UsageError, type Value } from './command.ts';
import { suggestion } from './nearest.ts';

/** What a command line asks for. The path leads from the root to the command. */
export type Request =
  | { readonly wants: 'help'; readonly path: readonly Command[] }
  | {
      readonly wants: 'run';
      readonly path: readonly Command[];
      readonly arguments: Readonly<Record<string, Value>>;
      readonly options: Readonly<Record<string, Value>>;
    };

export const helpOption = { type: 'boolean', short: 'h', description: 'Show this help' } as const;

/** @throws UsageError saying what is wrong and what would be right */
export function parse(root: Command, words: readonly string[]): Request {
  const { command, path, rest } = findCommand(root, words);
  const declared: Readonly<Record<string, Option>> = { ...command.options, help: helpOption };
  const tokens = split(rest, declared);
  // Who asks for help gets it, whatever else is wrong with the line.
  if (tokens.some((token) => token.kind === 'option' && token.name === 'help')) return { wants: 'help', path };

  const given = new Map<string, (string | number | true)[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const option = Object.hasOwn(declared, token.name) ? declared[token.name] : undefined;
    if (option === undefined) throw unknownOption(token.rawName, Object.keys(declared), path);
    given.set(token.name, [...(given.get(token.name) ?? []), optionValue(option, token)]);
  }

  if (command.run === undefined) {
    const [unknown] = positionals;
    if (unknown === undefined) return { wants: 'help', path };
    throw unknownCommand(unknown, path);
  }
  return {
    wants: 'run',
    path,
    arguments: argumentValues(command, path, positionals),
    options: optionValues(command, given),
  };
}

/** Follows names of commands for as long as they are names of commands. */
export function findCommand(root: Command, words: readonly string[]) {
  const path = [root];
  let command = root;
  for (const [index, word] of words.entries()) {
    const next = command.subcommands?.find((sub) => sub.name === word);
    if (next === undefined) return { command, path, rest: words.slice(index) };
    path.push(next);
    command = next;
  }
  return { command, path, rest: [] };
}

export function unknownCommand(unknown: string, path: readonly Command[]): UsageError {
  const known = path.at(-1)?.subcommands?.map((command) => command.name) ?? [];
  return new UsageError(
    `there is no command "${written(path)} ${unknown}".${suggestion(unknown, known)} "${written(path)} --help" lists them.`,
  );
}

/** The path as it is typed. */
export function written(path: readonly Command[]): string {
  return path.map((command) => command.name).join(' ');
}

function split(words: readonly string[], declared: Readonly<Record<string, Option>>) {
  const options = Object.entries(declared).map(([name, { type, short }]) => {
    const forNode: ParseArgsOptionDescriptor = { type: type === 'boolean' ? 'boolean' : 'string' };
    return [name, short === undefined ? forNode : { ...forNode, short }] as const;
  });
  // Not strict, because Node.js would refuse what is wrong in its own words, which say less than ours.
  return parseArgs({ args: [...words], options: Object.fromEntries(options), strict: false, tokens: true }).tokens;
}

function unknownOption(unknown: string, known: readonly string[], path: readonly Command[]): UsageError {
  const nearest = suggestion(
    unknown,
    known.map((name) => `--${name}`),
  );
  return new UsageError(`"${written(path)}" has no option ${unknown}.${nearest} "${written(path)} --help" lists them.`);
}

interface OptionToken {
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function optionValue(option: Option, { rawName, value, inlineValue }: OptionToken): string | number | true {
  if (option.type === 'boolean') {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value, but was given "${value}"`);
    return true;
  }
  if (value === undefined) throw new UsageError(`${rawName} needs a value: ${rawName} ${placeholder(option)}`);
  if (inlineValue !== true && value.length > 1 && value.startsWith('-') && option.type === 'string') {
    throw new UsageError(
      `${rawName} needs a value, but is followed by ${value}; if that is the value, write ${rawName}=${value}`,
    );
  }
  if (option.type === 'integer') return integer(option, rawName, value);
  if (option.choices !== undefined && !option.choices.includes(value)) {
    throw new UsageError(
      `${rawName} cannot be "${value}", only one of ${option.choices.join(', ')}.${suggestion(value, option.choices)}`,
    );
  }
  return value;
}

function integer(option: Option & { type: 'integer' }, rawName: string, text: string): number {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = option;
  const value = Number(text);
  if (/^-?\d+$/.test(text) && value >= minimum && value <= maximum) return value;
  const range = [
    ...(option.minimum === undefined ? [] : [`from ${option.minimum}`]),
    ...(option.maximum === undefined ? [] : [`up to ${option.maximum}`]),
  ];
  throw new UsageError(`${rawName} cannot be "${text}": it is ${['a whole number', ...range].join(' ')}`);
}

export function placeholder(option: Option & { type: 'string' | 'integer' }): string {
  if (option.type === 'string' && option.choices !== undefined) return option.choices.join('|');
  return option.placeholder ?? (option.type === 'integer' ? 'NUMBER' : 'VALUE');
}

function optionValues(command: Command, given: ReadonlyMap<string, readonly (string | number | true)[]>) {
  const values: Record<string, Value> = {};
  for (const [name, option] of Object.entries(command.options ?? {})) {
    const all = given.get(name) ?? [];
    if (option.type === 'boolean') values[name] = all.length > 0;
    else if (option.type === 'string' && option.repeated) values[name] = all.map(String);
    else if (all.length > 1) throw new UsageError(`--${name} is given ${all.length} times; once is enough`);
    else values[name] = all[0] ?? option.default;
  }
  return values;
}

function argumentValues(command: Command, path: readonly Command[], positionals: readonly string[]) {
  const values: Record<string, Value> = {};
  const left = [...positionals];
  for (const [name, argument] of Object.entries(command.arguments ?? {})) {
    if (!argument.optional && left.length === 0) {
      throw new UsageError(`"${written(path)}" needs ${name.toUpperCase()}: ${argument.description}`);
    }
    values[name] = argument.repeated ? left.splice(0) : left.shift();
  }
  const [excess] = left;
  if (excess !== undefined) {
    throw new UsageError(
      `"${written(path)}" does not know what to do with "${excess}". "${written(path)} --help" shows its usage.`,
    );
  }
  return values;
}
