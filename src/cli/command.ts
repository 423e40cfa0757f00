/**
 * A command of `netloom`, declared. The same declaration parses the command line, prints the help and writes the
 * completion scripts. Declarations are loaded at every start, so they import nothing heavy: `run` does, when it runs.
 *
 * ```ts
 * export const get = command({
 *   name: 'get',
 *   summary: 'List objects',
 *   arguments: { kind: { description: 'plural, singular or short name' }, names: { description: '…', repeated: true } },
 *   options: { output: { type: 'string', short: 'o', choices: ['json', 'yaml'], description: 'format' } },
 *   run: async ({ arguments: { kind, names }, options: { output }, terminal }) =>
 *     (await import('./get.ts')).get({ kind, names, output, terminal }),
 * });
 * ```
 */
export function command<const A extends Arguments = NoArguments, const O extends Options = NoOptions>(
  declaration: Declaration<A, O>,
): Command {
  return declaration;
}

export interface Declaration<A extends Arguments, O extends Options> extends About {
  /** In the order in which they are written: optional ones after the others, a repeated one last. */
  readonly arguments?: A;
  /** By their long names. `--help` is there without being declared. */
  readonly options?: O;
  /** The exit code, 0 when there is none. Throws a CommandError for what the caller can put right. */
  run?(invocation: Invocation<A, O>): Promise<number> | Promise<void>;
}

/** A declaration whose exact types are forgotten, as the frame handles it. */
export interface Command extends About {
  readonly arguments?: Arguments;
  readonly options?: Options;
  run?(invocation: {
    readonly arguments: Readonly<Record<string, Value>>;
    readonly options: Readonly<Record<string, Value>>;
    readonly terminal: Terminal;
  }): Promise<number> | Promise<void>;
}

interface About {
  readonly name: string;
  /** One line, capitalized, without a full stop. */
  readonly summary: string;
  /** Further paragraphs for `--help`. */
  readonly description?: string;
  /** Whole command lines. */
  readonly examples?: readonly string[];
  readonly subcommands?: readonly Command[];
}

/** The value of any argument or option. */
export type Value = boolean | string | number | undefined | readonly string[];

export interface Argument {
  readonly description: string;
  readonly optional?: boolean;
  /** Takes all that follows; none is fine when it is optional, too. */
  readonly repeated?: boolean;
}

export type Option = FlagOption | TextOption | NumberOption;

export interface FlagOption {
  readonly type: 'boolean';
  readonly short?: string;
  readonly description: string;
}

export interface TextOption {
  readonly type: 'string';
  readonly short?: string;
  readonly description: string;
  /** What stands for the value in the help: `FILE`; `VALUE` when not given. */
  readonly placeholder?: string;
  readonly choices?: readonly string[];
  readonly default?: string;
  /** May be given more than once; the value is then an array. */
  readonly repeated?: boolean;
}

export interface NumberOption {
  readonly type: 'integer';
  readonly short?: string;
  readonly description: string;
  readonly placeholder?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

export type Arguments = Readonly<Record<string, Argument>>;
export type Options = Readonly<Record<string, Option>>;

type NoArguments = Readonly<Record<never, Argument>>;
type NoOptions = Readonly<Record<never, Option>>;

export interface Invocation<A extends Arguments, O extends Options> {
  readonly arguments: { readonly [Name in keyof A]: ArgumentValue<A[Name]> };
  readonly options: { readonly [Name in keyof O]: OptionValue<O[Name]> };
  readonly terminal: Terminal;
}

type ArgumentValue<A extends Argument> = A extends { readonly repeated: true }
  ? readonly string[]
  : A extends { readonly optional: true }
    ? string | undefined
    : string;

type OptionValue<O extends Option> = O extends FlagOption
  ? boolean
  : O extends TextOption
    ? O extends { readonly repeated: true }
      ? readonly TextValue<O>[]
      : O extends { readonly default: string }
        ? TextValue<O>
        : TextValue<O> | undefined
    : O extends { readonly default: number }
      ? number
      : number | undefined;

type TextValue<O extends TextOption> = O extends { readonly choices: readonly (infer Choice)[] } ? Choice : string;

/** Where a command writes. */
export interface Terminal {
  /** The answer, to standard output. A line break is added. */
  print(text: string): void;
  /** What is said beside the answer, to standard error. A line break is added. */
  warn(text: string): void;
}

/** What the caller can put right, as one sentence; it is printed as it is, without a stack. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(sentence: string, { exitCode = 1 }: { exitCode?: number } = {}) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

/** The command line itself is wrong. */
export class UsageError extends CommandError {
  constructor(sentence: string) {
    super(sentence, { exitCode: 2 });
  }
}
