import { type Command, type Option, UsageError } from './command.ts';
import { suggestion } from './nearest.ts';
import { helpOption } from './parse.ts';

/** The script with which a shell completes the commands below a root. All of it is written from the declarations. */
export function completionScript(root: Command, shell: string): string {
  const write = Object.hasOwn(writers, shell) ? writers[shell] : undefined;
  if (write === undefined) {
    throw new UsageError(
      `there is no completion for the shell "${shell}", only for ${shells.join(', ')}.${suggestion(shell, shells)}`,
    );
  }
  return write(root.name, placesBelow(root, root.name));
}

const writers: Readonly<Record<string, (name: string, places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export const shells: readonly string[] = Object.keys(writers);

/** A command where it stands: `netloom routes show`. */
interface Place {
  readonly path: string;
  readonly command: Command;
  readonly subcommands: readonly Command[];
  readonly options: readonly (readonly [string, Option])[];
}

function placesBelow(command: Command, path: string): Place[] {
  const subcommands = command.subcommands ?? [];
  const options = Object.entries({ ...command.options, help: helpOption });
  const below = subcommands.flatMap((sub) => placesBelow(sub, `${path} ${sub.name}`));
  return [{ path, command, subcommands, options }, ...below];
}

function bashScript(name: string, places: readonly Place[]): string {
  return `# Completes ${name} in bash.
_${name}() {
  local word=\${COMP_WORDS[COMP_CWORD]} place=${name} i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$place \${COMP_WORDS[i]}" in
      ${pathsBelowRoot(places)}) place+=" \${COMP_WORDS[i]}" ;;
    esac
  done
  local commands= options= values=
  case $place in
${lines(places, 4, ({ path, subcommands, options }) => {
  const names = subcommands.map((sub) => sub.name).join(' ');
  return `${quoted(path)}) commands=${quoted(names)} options=${quoted(options.flatMap(spellings).join(' '))} ;;`;
})}
  esac
  case "$place \${COMP_WORDS[COMP_CWORD - 1]}" in
${lines(withValue(places), 4, ({ spelled, choices }) => `${spelled.map(quoted).join(' | ')}) values=${quoted(choices.join(' '))} commands= options= ;;`)}
  esac
  if [[ $word == -* ]]; then values+=" $options"; else values+=" $commands"; fi
  mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
}
complete -o default -F _${name} ${name}`;
}

function zshScript(name: string, places: readonly Place[]): string {
  return `#compdef ${name}
# Completes ${name} in zsh.
_${name}() {
  local place=${name} word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
      ${pathsBelowRoot(places)}) place+=" $word" ;;
    esac
  done
  local -a values commands options
  case "$place \${words[CURRENT-1]}" in
${lines(withValue(places), 4, ({ spelled, choices }) =>
  choices.length === 0
    ? `${spelled.map(quoted).join(' | ')}) _files; return ;;`
    : `${spelled.map(quoted).join(' | ')}) values=(${choices.map(quoted).join(' ')}); _describe value values; return ;;`,
)}
  esac
  case $place in
${lines(places, 4, ({ path, subcommands, options }) => {
  const commands = subcommands.map((sub) => quoted(`${sub.name}:${sub.summary}`));
  const spelled = options.flatMap(([long, option]) =>
    spellings([long, option]).map((spelling) => quoted(`${spelling}:${option.description}`)),
  );
  return `${quoted(path)}) commands=(${commands.join(' ')}); options=(${spelled.join(' ')}) ;;`;
})}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then _describe option options
  elif (( \${#commands} )); then _describe command commands
  else _files
  fi
}
compdef _${name} ${name}`;
}

function fishScript(name: string, places: readonly Place[]): string {
  const at = (path: string) => `complete -c ${name} -n ${quoted(`test (__${name}_place) = "${path}"`)}`;
  return `# Completes ${name} in fish.
function __${name}_place
  set -l place ${name}
  for word in (commandline -opc)[2..-1]
    switch "$place $word"
      case ${pathsBelowRoot(places).replaceAll(' | ', ' ')}
        set place "$place $word"
    end
  end
  echo $place
end
${places
  .flatMap(({ path, subcommands, options }) => [
    ...subcommands.map((sub) => `${at(path)} -f -a ${sub.name} -d ${quoted(sub.summary)}`),
    ...options.map(([long, option]) => {
      const short = option.short === undefined ? '' : ` -s ${option.short}`;
      return `${at(path)} -l ${long}${short}${fishValue(option)} -d ${quoted(option.description)}`;
    }),
  ])
  .join('\n')}`;
}

function fishValue(option: Option): string {
  if (option.type === 'boolean') return '';
  const choices = choicesOf(option);
  return choices.length === 0 ? ' -r' : ` -x -a ${quoted(choices.join(' '))}`;
}

/** Where a value is expected: each spelling of each option that takes one, behind its path. */
function withValue(places: readonly Place[]): { spelled: string[]; choices: readonly string[] }[] {
  return places.flatMap(({ path, options }) =>
    options
      .filter(([, option]) => option.type !== 'boolean')
      .map(([name, option]) => ({
        spelled: spellings([name, option]).map((spelling) => `${path} ${spelling}`),
        choices: choicesOf(option),
      })),
  );
}

function choicesOf(option: Option): readonly string[] {
  return option.type === 'string' ? (option.choices ?? []) : [];
}

function spellings([name, option]: readonly [string, Option]): string[] {
  return option.short === undefined ? [`--${name}`] : [`--${name}`, `-${option.short}`];
}

function pathsBelowRoot(places: readonly Place[]): string {
  return places
    .slice(1)
    .map(({ path }) => quoted(path))
    .join(' | ');
}

function lines<T>(items: readonly T[], indent: number, line: (item: T) => string): string {
  return items.map((item) => `${' '.repeat(indent)}${line(item)}`).join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
