import { once } from 'node:events';
import { get } from 'node:http';

// Asks http://HOST/ again and again, each time over a connection of its own, until its standard input ends. Then prints how many
// answers came, and what went wrong. Run as a program of its own, in whatever network it is started in.
const [, , host = ''] = process.argv;
let answered = 0;
const failures: string[] = [];

async function ask(): Promise<void> {
  const began = Date.now();
  try {
    const request = get({ host, agent: false, timeout: 10_000 });
    request.on('timeout', () => request.destroy(new Error('no answer')));
    const [answer] = await once(request, 'response');
    answer.resume();
    await once(answer, 'end');
    if (answer.statusCode === 200) answered += 1;
    else failures.push(`answered ${answer.statusCode}`);
  } catch (error) {
    failures.push(`${error instanceof Error ? error.message : error} after ${Date.now() - began} ms`);
  }
}

let ends = false;
process.stdin.resume().once('end', () => {
  ends = true;
});
console.log('begins');
while (!ends) {
  await ask();
  await new Promise((resolve) => setTimeout(resolve, 10));
}
console.log(JSON.stringify({ answered, failures }));
