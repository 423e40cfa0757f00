import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

/** Runs a script that has the functions of terminal.ts at hand, with its output piped into another program. */
async function piped(script: string, into: string): Promise<{ stdout: string; stderr: string }> {
  const module = `import * as terminal from ${JSON.stringify(path.join(import.meta.dirname, 'terminal.ts'))};\n${script}`;
  const line = `set -o pipefail; "$0" --input-type=module --eval "$1" | ${into}`;
  return promisify(execFile)('bash', ['-c', line, process.execPath, module]);
}

test('a reader that has had enough ends the program without a word', async () => {
  const endless = `terminal.endWithTheReader(); setInterval(() => terminal.processTerminal.print('a line'), 1);`;
  assert.deepEqual(await piped(endless, 'head -1'), { stdout: 'a line\n', stderr: '' });
});

test('the program ends only when a slow reader has everything', async () => {
  const large = `terminal.processTerminal.print('x'.repeat(1_000_000)); terminal.exitWhenWritten(0);`;
  assert.equal((await piped(large, '(sleep 0.2; wc -c)')).stdout.trim(), '1000001');
});
