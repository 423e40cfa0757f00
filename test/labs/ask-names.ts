// ask-names.ts SERVER NAME [SECONDS]: asks a DNS server for a name again and again, without ever repeating a question that was
// lost, until the time is up or SIGTERM ends it. It prints a line when the first answer is there, and at the end what came of
// it as JSON.
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const [server = '', name = '', seconds = '60'] = process.argv.slice(2);

export interface Asked {
  readonly asked: number;
  /** Answer, or the code of a failure → how often. */
  readonly answers: Readonly<Record<string, number>>;
  /** Between an answer that was right and the next one, in milliseconds. */
  readonly longestSilence: number;
}

let isOver = false;
process.on('SIGTERM', () => {
  isOver = true;
});
const end = Date.now() + Number(seconds) * 1000;
const answers: Record<string, number> = {};
let asked = 0;
let longestSilence = 0;
let heardAt = Date.now();

async function ask(): Promise<void> {
  // A socket of its own for every question, as programs do.
  const resolver = new Resolver({ timeout: 2_000, tries: 1 });
  resolver.setServers([server]);
  const answer = await resolver.resolve4(name).then(
    (found) => found.join(','),
    ({ code }: { code: string }) => code,
  );
  if (asked === 0) console.log('asking');
  asked += 1;
  answers[answer] = (answers[answer] ?? 0) + 1;
  if (/^[A-Z]/.test(answer)) return;
  longestSilence = Math.max(longestSilence, Date.now() - heardAt);
  heardAt = Date.now();
}

const underWay = new Set<Promise<void>>();
while (!isOver && Date.now() < end) {
  const one = ask().finally(() => underWay.delete(one));
  underWay.add(one);
  await sleep(10);
}
await Promise.all(underWay);
longestSilence = Math.max(longestSilence, Date.now() - heardAt);
console.log(JSON.stringify({ asked, answers, longestSilence } satisfies Asked));
