// What bin/netloom starts when its quick checks find something missing: setup.mjs COMMAND
import { asSentence, requireLinux, SetUpError, say } from './child.mjs';
import { packages } from './packages.mjs';
import { programs } from './programs.mjs';

await asSentence(async () => {
  requireLinux();
  await packages({ development: false });
  const command = process.argv[2] ?? '';
  await programs(command);
  if (command === 'up' && process.getuid?.() === 0) {
    // As root it starts the agent of this machine too. What that lacks is no reason to do without all the rest.
    await programs('agent').catch((error) => {
      if (!(error instanceof SetUpError)) throw error;
      say(`pods and Services will not work on this machine: ${error.message}`);
    });
  }
});
