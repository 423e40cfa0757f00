import packageFile from '../../package.json' with { type: 'json' };
import { type Command, CommandError, command, type Terminal } from './command.ts';
import { commands } from './commands.ts';
import { completionScript, shells } from './completion.ts';
import { help } from './help.ts';
import { findCommand, parse, unknownCommand } from './parse.ts';

/** The whole of `netloom`: the commands, and those that speak about the commands. */
export const netloom: Command = command({
  name: 'netloom',
  summary: 'Networks, addresses, names and virtual IPs as Kubernetes objects, made real on Linux hosts',
  subcommands: [
    ...commands,
    command({
      name: 'help',
      summary: 'Explain a command',
      arguments: {
        command: { description: 'its name, and the names of what is below it', optional: true, repeated: true },
      },
      async run({ arguments: { command: names }, terminal }) {
        const { path, rest } = findCommand(netloom, names);
        const [unknown] = rest;
        if (unknown !== undefined) throw unknownCommand(unknown, path);
        terminal.print(help(path));
      },
    }),
    command({
      name: 'completion',
      summary: 'Print the script with which a shell completes netloom commands',
      description: 'Load it where your shell starts, as the examples show.',
      arguments: { shell: { description: shells.join(', ') } },
      examples: [
        'source <(netloom completion bash)        # in ~/.bashrc',
        'source <(netloom completion zsh)         # in ~/.zshrc, after compinit',
        'netloom completion fish | source         # in ~/.config/fish/config.fish',
      ],
      async run({ arguments: { shell }, terminal }) {
        terminal.print(completionScript(netloom, shell));
      },
    }),
    command({
      name: 'version',
      summary: 'Print the version',
      async run({ terminal }) {
        terminal.print(`netloom ${packageFile.version} (Node.js ${process.versions.node})`);
      },
    }),
  ],
});

/** Runs one command line, and answers its exit code. */
export async function runCommandLine(root: Command, words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const request = parse(root, words);
    const asked = request.path.at(-1);
    if (request.wants === 'help' || asked?.run === undefined) {
      terminal.print(help(request.path));
      return 0;
    }
    return (await asked.run({ arguments: request.arguments, options: request.options, terminal })) ?? 0;
  } catch (error) {
    const told = error instanceof CommandError ? error : (await import('./client/api-failure.ts')).apiFailure(error);
    terminal.warn(told === undefined ? unexpected(root, error) : `${root.name}: ${told.message}`);
    return told?.exitCode ?? 1;
  }
}

function unexpected(root: Command, error: unknown): string {
  if (process.env['NETLOOM_DEBUG'] === '1') {
    return `${root.name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
  const message = error instanceof Error ? error.message : String(error);
  return `${root.name}: a fault of Netloom's own: ${message}\nNETLOOM_DEBUG=1 shows where it happened.`;
}
