/**
 * asker.ts SERVER: asks a name server. Of each line `NAME ADDRESS` it reads it says, by the clock that all processes of a
 * machine share, in nanoseconds, when NAME was first answered with ADDRESS. Meanwhile a question may be answered with what
 * stood there before; `lost N`, at the end, are those that nobody answered.
 */
import { Resolver } from 'node:dns/promises';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const [server = ''] = process.argv.slice(2);
const resolver = new Resolver({ timeout: 2_000, tries: 1 });
resolver.setServers([server]);
let lost = 0;

for await (const line of createInterface(process.stdin)) {
  const [name = '', wanted = ''] = line.split(' ');
  // A question every millisecond: more would only take from those who are asked.
  while ((await answer(name)) !== wanted) await sleep(1);
  console.log(process.hrtime.bigint().toString());
}
console.log(`lost ${lost}`);

async function answer(name: string): Promise<string> {
  try {
    return (await resolver.resolve4(name)).join(' ');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ETIMEOUT') lost += 1;
    return '';
  }
}
