// Runs a script of this project with everything it needs in place: run.mjs SCRIPT [ARGUMENTS]
// It is started by whatever Node.js the machine has, so it and what it imports keep to Node.js 20.
import { asSentence, requireLinux, runToEnd, SetUpError, say } from './child.mjs';
import { packages } from './packages.mjs';
import { root } from './place.mjs';
import { programs } from './programs.mjs';

const [script = '', ...args] = process.argv.slice(2);

await asSentence(async () => {
  requireLinux();
  const node = await packages({ development: true });
  const [folder = ''] = script.split('/');
  if (folder === 'test' || folder === 'bench') {
    // A test that lacks its program skips and says so, and so does a measurement; the others still tell something.
    await programs(folder).catch((error) => {
      if (!(error instanceof SetUpError)) throw error;
      say(error.message);
    });
  }
  const { code, signal } = await runToEnd(node, [script, ...args], { cwd: root, stdio: 'inherit' });
  if (signal !== null) process.kill(process.pid, signal);
  process.exitCode = code;
});
