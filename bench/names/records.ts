import type { Row } from '../shared/row.ts';
import type { Bench, Described } from './bench.ts';
import { NameServers } from './name-servers.ts';
import { PlainDnsmasq } from './plain-dnsmasq.ts';

/** What records of a DNSData cost, by the name under which a work is chosen. */
export const recordWorks: Readonly<Record<string, Described>> = {
  records: { about: 'one of 10 000 records changes', measure: oneOfTenThousand },
  'many-records': { about: '100 000 records load, and one of them changes', measure: oneOfMany },
};

async function* oneOfTenThousand({ quick, lab }: Bench): AsyncGenerator<Row> {
  const count = 10_000;
  const plain = await PlainDnsmasq.start(count);
  const servers = await NameServers.start(await lab());
  try {
    await servers.load({ objects: 1, each: count });
    const changes = await servers.changes(quick ? 20 : 200);
    const rereads = await plain.changes(quick ? 3 : 10);
    const rolls = await servers.rolls(quick ? 1 : 5);
    const lost = await servers.stop();
    yield {
      work: `a record of a DNSData with ${count} changes, from before the request to the first answer`,
      goal: 'p99 under 100 ms, no question lost',
      measured: `p99 ${changes.percentile(99).toFixed()} ms, p50 ${changes.text()} ms, ${lost} lost`,
      holds: changes.percentile(99) < 100 && lost === 0,
      notes: [
        `${(rereads.median / changes.median).toFixed(1)} times that, dnsmasq alone needs for one file of all of them that is exchanged: ${rereads.text()} ms`,
        `${(rolls.median / changes.median).toFixed(0)} times that, a roll of the pods needs, as the original does it for each change: ${rolls.text()} ms`,
      ],
    };
  } finally {
    await plain.stop();
    await servers.stop();
  }
}

async function* oneOfMany({ quick, lab }: Bench): AsyncGenerator<Row> {
  const [objects, each] = [20, quick ? 1_000 : 5_000];
  const servers = await NameServers.start(await lab());
  try {
    const seconds = (await servers.load({ objects, each })) / 1000;
    // Once for nothing in each of the objects, as people have it after the first day.
    await servers.changes(objects);
    const changes = await servers.changes(quick ? 20 : 100);
    const lost = await servers.stop();
    yield {
      work: `${objects * each} records in ${objects} DNSDatas, one changes`,
      goal: 'they load; p99 under 200 ms',
      measured: `p99 ${changes.percentile(99).toFixed()} ms, p50 ${changes.text()} ms`,
      holds: changes.percentile(99) < 200,
      notes: [`from the first request to answers of all of them: ${seconds.toFixed(1)} s; ${lost} questions lost`],
    };
  } finally {
    await servers.stop();
  }
}
