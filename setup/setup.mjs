// What bin/netloom starts when its quick checks find something missing: setup.mjs COMMAND
import { asSentence, requireLinux } from './child.mjs';
import { packages } from './packages.mjs';
import { programs } from './programs.mjs';

await asSentence(async () => {
  requireLinux();
  await packages({ development: false });
  await programs(process.argv[2] ?? '');
});
