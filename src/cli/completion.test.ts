import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { command } from './command.ts';
import { completionScript, shells } from './completion.ts';

const run = promisify(execFile);

const program = command({
  name: 'loom',
  summary: 'A program',
  subcommands: [
    command({
      name: 'get',
      summary: "List what's there: all of it",
      arguments: { kind: { description: 'what to list' } },
      options: {
        output: { type: 'string', short: 'o', choices: ['json', 'yaml'], description: 'format' },
        file: { type: 'string', short: 'f', description: 'a file' },
        watch: { type: 'boolean', short: 'w', description: 'go on' },
      },
      run: async () => {},
    }),
    command({
      name: 'routes',
      summary: 'Look at routes',
      subcommands: [command({ name: 'show', summary: 'Show routes', run: async () => {} })],
    }),
  ],
});

/** What bash offers behind these words, the last of which is being typed. */
async function offered(...words: string[]): Promise<string[]> {
  const complete = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _loom; printf "%s\\n" "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['-c', `${completionScript(program, 'bash')}\n${complete}`, 'bash', ...words]);
  return stdout.split('\n').filter((line) => line !== '');
}

test('bash completes commands, and those below them', async () => {
  assert.deepEqual(await offered('loom', ''), ['get', 'routes']);
  assert.deepEqual(await offered('loom', 'r'), ['routes']);
  assert.deepEqual(await offered('loom', 'routes', ''), ['show']);
});

test('bash completes the options of the command at hand', async () => {
  assert.deepEqual(await offered('loom', 'get', 'pods', '--'), ['--output', '--file', '--watch', '--help']);
  assert.deepEqual(await offered('loom', 'routes', 'show', '--'), ['--help']);
});

test('bash completes the values that an option can have', async () => {
  assert.deepEqual(await offered('loom', 'get', '--output', ''), ['json', 'yaml']);
  assert.deepEqual(await offered('loom', 'get', '-o', 'y'), ['yaml']);
});

test('bash offers nothing of its own where a file name may stand, so that it completes files', async () => {
  assert.deepEqual(await offered('loom', 'get', '--file', ''), []);
  assert.deepEqual(await offered('loom', 'get', ''), []);
});

test('every script names every command and option, and keeps quotes in descriptions harmless', () => {
  for (const shell of shells) {
    const script = completionScript(program, shell);
    for (const word of ['get', 'routes', 'show', 'output', 'json', 'file', 'watch', 'help']) {
      assert.match(script, new RegExp(`\\b${word}\\b`), `${shell} does not know ${word}`);
    }
    if (script.includes('List what')) assert.ok(script.includes(`List what'\\''s there: all of it'`), shell);
  }
});

test('a shell that we have no script for is refused with those we have', () => {
  assert.throws(
    () => completionScript(program, 'fihs'),
    /no completion for the shell "fihs", only for bash, zsh, fish\. Did you mean "fish"\?/,
  );
  assert.throws(() => completionScript(program, '__proto__'), /no completion for the shell/);
});
