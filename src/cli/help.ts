import type { Command, Option } from './command.ts';
import { helpOption, placeholder, written } from './parse.ts';

/** What `--help` prints. */
export function help(path: readonly Command[]): string {
  const command = path.at(-1);
  if (command === undefined) return '';
  const subcommands = command.subcommands ?? [];
  const sections = [
    `${command.summary}.`,
    ...(command.description === undefined ? [] : [command.description.trim()]),
    `Usage: ${usage(path)}`,
    table(
      'Arguments',
      Object.entries(command.arguments ?? {}).map(([name, { description }]) => [name.toUpperCase(), description]),
    ),
    table(
      'Commands',
      subcommands.map(({ name, summary }) => [name, summary]),
    ),
    table('Options', Object.entries({ ...command.options, help: helpOption }).map(optionRow)),
    ...(command.examples === undefined
      ? []
      : [['Examples:', ...command.examples.map((line) => `  ${line}`)].join('\n')]),
    ...(subcommands.length === 0 ? [] : [`"${written(path)} COMMAND --help" says more about a command.`]),
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function usage(path: readonly Command[]): string {
  const command = path.at(-1);
  const words = Object.entries(command?.arguments ?? {}).map(([name, argument]) => {
    const word = argument.repeated ? `${name.toUpperCase()}...` : name.toUpperCase();
    return argument.optional ? `[${word}]` : word;
  });
  if (command?.run === undefined) words.push('COMMAND');
  return [written(path), ...words, '[OPTIONS]'].join(' ');
}

function optionRow([name, option]: readonly [string, Option]): [string, string] {
  const short = option.short === undefined ? '    ' : `-${option.short}, `;
  if (option.type === 'boolean') return [`${short}--${name}`, option.description];
  const preset = option.default === undefined ? '' : ` (default: ${option.default})`;
  return [`${short}--${name} ${placeholder(option)}`, `${option.description}${preset}`];
}

function table(title: string, rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return '';
  const width = Math.max(...rows.map(([left]) => left.length));
  return [`${title}:`, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)].join('\n');
}
