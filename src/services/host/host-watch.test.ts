import assert from 'node:assert/strict';
import { before, describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { sleep } from '../../runtime/clock.ts';
import { silentLog } from '../../runtime/log.ts';
import { system } from '../../runtime/system.ts';
import { HostWatch } from './host-watch.ts';
import { ip, moveIntoOwnNetwork, needsRoot } from './own-network.fixture.ts';

const ADDRESSES: Readonly<Record<string, string>> = { one: '192.0.2.1', two: '192.0.2.2', six: '2001:db8::6' };

/** The real kernel answers for hosts that are addresses of it. */
describe('a watch of hosts', needsRoot, () => {
  before(() => {
    moveIntoOwnNetwork();
    for (const address of Object.values(ADDRESSES))
      ip(`addr add ${address}/${address.includes(':') ? 128 : 32} dev lo`);
  });

  const begin = (t: TestContext): { watch: HostWatch; news: string[]; next: () => Promise<void> } => {
    const news: string[] = [];
    let told = Promise.withResolvers<void>();
    const watch: HostWatch = new HostWatch({
      ...{ system, log: silentLog },
      addressesOf: (host) => [ADDRESSES[host] ?? ''],
      changed: (host) => {
        news.push(`${host} ${watch.isSilent(host) ? 'is silent' : 'is heard'}`);
        told.resolve();
        told = Promise.withResolvers();
      },
    });
    t.after(() => watch.close());
    return { watch, news, next: () => told.promise };
  };

  it('tells of the one that falls silent, and when it is heard again', { timeout: 60_000 }, async (t) => {
    const { watch, news, next } = begin(t);
    for (const host of ['one', 'two', 'six']) watch.watch(host);
    await rounds(watch);
    ip('addr del 192.0.2.2/32 dev lo');
    await next();
    ip('addr add 192.0.2.2/32 dev lo');
    await next();
    ip('addr del 2001:db8::6/128 dev lo');
    await next();
    ip('addr add 2001:db8::6/128 dev lo');
    assert.deepEqual(news, ['two is silent', 'two is heard', 'six is silent']);
  });

  it('does not take a pause of its own for silence', async (t) => {
    const { watch, news } = begin(t);
    watch.watch('one');
    await rounds(watch);
    for (let i = 0; i < 4; i += 1) {
      pause(1_000);
      await setImmediate();
    }
    await rounds(watch);
    assert.deepEqual(news, []);
  });

  /** Looks for as long as a judgement takes: by then a host that answers has answered. */
  async function rounds(watch: HostWatch): Promise<void> {
    await sleep(system, 1_500);
    assert.ok(!watch.isSilent('one'));
  }
});

/** Nothing of this process runs meanwhile, as on a machine that is busy with others. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
