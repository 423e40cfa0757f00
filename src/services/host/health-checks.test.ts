import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { silentLog } from '../../runtime/log.ts';
import { system } from '../../runtime/system.ts';
import { HealthChecks } from './health-checks.ts';

describe('a balancer that asks a host after a Service', () => {
  it('is told whether there are pods, and nothing once the Service is gone', async (t) => {
    const port = await freePort();
    const checks = checking(t);
    checks.set('shop/web', { port, backends: 0 });
    const none = await eventually(port);
    assert.equal(none?.status, 503);
    checks.set('shop/web', { port, backends: 2 });
    const some = await fetch(`http://127.0.0.1:${port}/healthz`);
    assert.equal(some.status, 200);
    assert.equal(some.headers.get('x-load-balancing-endpoint-weight'), '2');
    assert.deepEqual(await some.json(), {
      service: { namespace: 'shop', name: 'web' },
      localEndpoints: 2,
      serviceProxyHealthy: true,
    });
    checks.set('shop/web', undefined);
    await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
  });

  it('finds the port that the Service has now', async (t) => {
    const [first, second] = [await freePort(), await freePort()];
    const checks = checking(t);
    checks.set('shop/web', { port: first, backends: 1 });
    await eventually(first);
    checks.set('shop/web', { port: second, backends: 1 });
    assert.equal((await eventually(second))?.status, 200);
    await assert.rejects(fetch(`http://127.0.0.1:${first}/`));
  });
});

function checking(t: TestContext): HealthChecks {
  const checks = new HealthChecks({ system, log: silentLog });
  t.after(() => checks.close());
  return checks;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function eventually(port: number): Promise<Response | undefined> {
  for (let tries = 0; tries < 500; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return undefined;
}
