import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../api/status.ts';
import { Unreachable } from '../runtime/transport.ts';
import { CommandError, command, type Terminal } from './command.ts';
import { netloom, runCommandLine } from './program.ts';

/** A program with one command of every sort; the commands answer with what they were given. */
const show = (value: unknown, terminal: Terminal) => terminal.print(JSON.stringify(value));
const program = command({
  name: 'loom',
  summary: 'A program',
  subcommands: [
    command({
      name: 'get',
      summary: 'List objects',
      arguments: {
        kind: { description: 'what to list' },
        names: { description: 'which of them', optional: true, repeated: true },
      },
      options: {
        output: { type: 'string', short: 'o', choices: ['json', 'yaml'], description: 'format' },
        file: { type: 'string', short: 'f', placeholder: 'FILE', repeated: true, description: 'files' },
        port: { type: 'integer', minimum: 1, maximum: 65535, default: 443, description: 'port' },
        watch: { type: 'boolean', short: 'w', description: 'go on' },
      },
      examples: ['loom get pods'],
      run: async (invocation) => show({ ...invocation.arguments, ...invocation.options }, invocation.terminal),
    }),
    command({
      name: 'routes',
      summary: 'Look at routes',
      subcommands: [command({ name: 'show', summary: 'Show routes', run: async () => 7 })],
    }),
    command({
      name: 'refuse',
      summary: 'Throw what the caller can put right',
      run: async () => {
        throw new CommandError('the pool "a" is full: give it another range', { exitCode: 3 });
      },
    }),
    command({
      name: 'break',
      summary: 'Throw what it should not',
      run: async () => {
        throw new TypeError('x is not a function');
      },
    }),
    command({
      name: 'call',
      summary: 'Throw what an API that is not there throws, or one that refuses',
      arguments: { what: { description: 'which' } },
      run: async ({ arguments: { what } }) => {
        throw what === 'nobody'
          ? new Unreachable('GET /api: connect ECONNREFUSED', { cause: new Error('connect ECONNREFUSED') })
          : new ApiError(403, 'Forbidden', 'no');
      },
    }),
  ],
});

async function run(...words: string[]) {
  let out = '';
  let error = '';
  const code = await runCommandLine(program, words, {
    print: (text) => {
      out += `${text}\n`;
    },
    warn: (text) => {
      error += `${text}\n`;
    },
  });
  return { code, out, error };
}

async function given(...words: string[]): Promise<unknown> {
  const { code, out, error } = await run(...words);
  assert.equal(code, 0, error);
  return JSON.parse(out);
}

async function refusal(...words: string[]): Promise<string> {
  const { code, out, error } = await run(...words);
  assert.equal(code, 2, error);
  assert.equal(out, '');
  return error;
}

test('arguments and options reach the command under their names, wherever they stand', async () => {
  assert.deepEqual(await given('get', '-o', 'json', 'pods', '--port=80', 'a', '-w', 'b'), {
    kind: 'pods',
    names: ['a', 'b'],
    output: 'json',
    file: [],
    port: 80,
    watch: true,
  });
});

test('what is left out has its default, or no value', async () => {
  assert.deepEqual(await given('get', 'pods'), { kind: 'pods', names: [], file: [], port: 443, watch: false });
});

test('a repeated option collects its values', async () => {
  assert.partialDeepStrictEqual(await given('get', 'pods', '-f', 'a', '--file=b', '-fc'), { file: ['a', 'b', 'c'] });
});

test('a value that begins with a dash is given with an equals sign, or as an argument behind --', async () => {
  assert.partialDeepStrictEqual(await given('get', '--file=-x', '--', '-pods'), { file: ['-x'], kind: '-pods' });
});

test('a subcommand is found below its command, and its number is the exit code', async () => {
  assert.equal((await run('routes', 'show')).code, 7);
});

test('an unknown command is refused with the nearest one', async () => {
  assert.equal(
    await refusal('gte'),
    'loom: there is no command "loom gte". Did you mean "get"? "loom --help" lists them.\n',
  );
  assert.match(await refusal('routes', 'shwo'), /no command "loom routes shwo"\. Did you mean "show"\?/);
});

test('nothing is suggested for a word that resembles no command', async () => {
  assert.doesNotMatch(await refusal('frobnicate'), /Did you mean/);
});

test('an unknown option is refused with the nearest one', async () => {
  assert.match(
    await refusal('get', 'pods', '--outptu', 'json'),
    /"loom get" has no option --outptu\. Did you mean "--output"\?/,
  );
  assert.match(await refusal('get', 'pods', '-z'), /no option -z/);
  assert.match(await refusal('get', 'pods', '--__proto__=1'), /no option --__proto__/);
});

test('an option without its value, or with one it cannot have, is refused', async () => {
  assert.match(await refusal('get', 'pods', '--output'), /--output needs a value: --output json\|yaml/);
  assert.match(await refusal('get', 'pods', '--file', '-w'), /followed by -w.*write --file=-w/);
  assert.match(
    await refusal('get', 'pods', '-o', 'jsno'),
    /-o cannot be "jsno", only one of json, yaml\. Did you mean "json"\?/,
  );
  assert.match(
    await refusal('get', 'pods', '--port', '70000'),
    /--port cannot be "70000": it is a whole number from 1 up to 65535/,
  );
  assert.match(await refusal('get', 'pods', '--port', '1e3'), /--port cannot be "1e3"/);
  assert.match(await refusal('get', 'pods', '--watch=yes'), /--watch takes no value, but was given "yes"/);
  assert.match(await refusal('get', 'pods', '-o', 'json', '-o', 'yaml'), /--output is given 2 times/);
});

test('a missing argument and one too many are refused', async () => {
  assert.equal(await refusal('get'), 'loom: "loom get" needs KIND: what to list\n');
  assert.match(await refusal('routes', 'show', 'all'), /"loom routes show" does not know what to do with "all"/);
});

test('--help explains a command, even when the rest of the line is wrong', async () => {
  const { code, out } = await run('get', '--port=x', '--help');
  assert.equal(code, 0);
  assert.equal(
    out,
    `List objects.

Usage: loom get KIND [NAMES...] [OPTIONS]

Arguments:
  KIND   what to list
  NAMES  which of them

Options:
  -o, --output json|yaml  format
  -f, --file FILE         files
      --port NUMBER       port (default: 443)
  -w, --watch             go on
  -h, --help              Show this help

Examples:
  loom get pods
`,
  );
});

test('a command that only holds others explains itself', async () => {
  const { code, out } = await run('routes');
  assert.equal(code, 0);
  assert.match(out, /Usage: loom routes COMMAND/);
  assert.match(out, / {2}show {2}Show routes/);
});

test('what the caller can put right is one line and its exit code', async () => {
  assert.deepEqual(await run('refuse'), {
    code: 3,
    out: '',
    error: 'loom: the pool "a" is full: give it another range\n',
  });
});

test('an API that is not there, or refuses, is no fault of ours', async () => {
  assert.deepEqual(await run('call', 'nobody'), {
    code: 1,
    out: '',
    error:
      'loom: the API does not answer (connect ECONNREFUSED): see whether "netloom up" runs, and whether --kubeconfig or $KUBECONFIG names it\n',
  });
  assert.deepEqual(await run('call', 'somebody'), { code: 1, out: '', error: 'loom: the API refuses: no\n' });
});

test('a fault is one line and the way to its stack', async () => {
  const { code, error } = await run('break');
  assert.equal(code, 1);
  assert.match(
    error,
    /^loom: a fault of Netloom's own: x is not a function\nNETLOOM_DEBUG=1 shows where it happened\.\n$/,
  );
});

test('every command of netloom explains itself, and by way of help too', async () => {
  const names = netloom.subcommands?.map((sub) => sub.name) ?? [];
  assert.ok(names.includes('version'));
  for (const name of names) {
    let viaHelp = '';
    let viaOption = '';
    assert.equal(
      await runCommandLine(netloom, ['help', name], {
        print: (text) => {
          viaHelp = text;
        },
        warn: assert.fail,
      }),
      0,
    );
    assert.equal(
      await runCommandLine(netloom, [name, '--help'], {
        print: (text) => {
          viaOption = text;
        },
        warn: assert.fail,
      }),
      0,
    );
    assert.equal(viaHelp, viaOption);
    assert.match(viaHelp, new RegExp(`Usage: netloom ${name} `));
  }
});
