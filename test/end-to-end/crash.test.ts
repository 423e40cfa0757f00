import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { HttpTransport } from '../../src/runtime/http-transport.ts';
import { Unreachable } from '../../src/runtime/transport.ts';
import { at, configMap, MAPS } from '../engine/engine-in-test.ts';
import { RunningNetloom } from './netloom.ts';

const ROUNDS = Number(process.env['NETLOOM_CRASH_ROUNDS'] ?? 20);
const WRITERS = 8;

/** What a writer knows for sure: its last acknowledged value, and the one it was writing when the engine died. */
interface Knowledge {
  acknowledged: number;
  attempted: number;
}

test(`every acknowledged write outlives kill -9, and none is half there (${ROUNDS} rounds)`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'netloom-crash-'));
  const known = Array.from({ length: WRITERS }, (): Knowledge => ({ acknowledged: -1, attempted: -1 }));
  let newest = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const engine = await RunningNetloom.start('engine', { directory });
    const transport = await engine.transport();
    newest = await check(transport, known, newest);
    // Never the same moment, but always after some writes, however slow the machine is.
    const enough = WRITERS * 2 + Math.floor(Math.random() * 200);
    const { promise: isEnough, resolve: stop } = Promise.withResolvers<void>();
    let count = 0;
    const counted = () => {
      count += 1;
      if (count === enough) stop();
    };
    const writers = known.map((knowledge, i) => write(transport, i, knowledge, counted));
    await isEnough;
    await engine.kill();
    await Promise.all(writers);
    transport.close();
  }
  const engine = await RunningNetloom.start('engine', { directory });
  await check(await engine.transport(), known, newest);
  await engine.stop();
  await rm(directory, { recursive: true });
});

/** Writes one value after the other until the engine is gone. */
async function write(
  transport: HttpTransport,
  i: number,
  knowledge: Knowledge,
  acknowledged: () => void,
): Promise<void> {
  const name = `writer-${i}`;
  try {
    for (;;) {
      const value = knowledge.attempted + 1;
      knowledge.attempted = value;
      // Three fields that belong together, and weight: a half-written object would show.
      const data = { one: String(value), two: String(value), weight: String(value).padStart(2000, '.') };
      const answer =
        knowledge.acknowledged < 0 &&
        (await transport.request({ method: 'GET', path: `${MAPS}/${name}` })).status === 404
          ? await transport.request({ method: 'POST', path: MAPS, body: configMap(name, data) })
          : await transport.request({ method: 'PUT', path: `${MAPS}/${name}`, body: configMap(name, data) });
      assert.ok(answer.status === 200 || answer.status === 201, JSON.stringify(answer.body));
      knowledge.acknowledged = value;
      acknowledged();
    }
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
  }
}

/** What is stored is what was acknowledged, or the write that was under way, whole. Returns the newest version. */
async function check(transport: HttpTransport, known: readonly Knowledge[], newest: number): Promise<number> {
  const { body } = await transport.request({ method: 'GET', path: MAPS });
  const version = Number(at(body, 'metadata.resourceVersion'));
  assert.ok(version >= newest, `versions went back from ${newest} to ${version}`);
  for (const [i, knowledge] of known.entries()) {
    const answer = await transport.request({ method: 'GET', path: `${MAPS}/writer-${i}` });
    if (answer.status === 404) {
      assert.equal(knowledge.acknowledged, -1, `writer-${i} has lost everything`);
      continue;
    }
    const value = Number(at(answer.body, 'data.one'));
    assert.equal(at(answer.body, 'data.two'), String(value));
    assert.equal(at(answer.body, 'data.weight'), String(value).padStart(2000, '.'));
    assert.ok(
      value === knowledge.acknowledged || value === knowledge.attempted,
      `writer-${i} has ${value}, but ${knowledge.acknowledged} was acknowledged and ${knowledge.attempted} attempted`,
    );
    knowledge.acknowledged = value;
    knowledge.attempted = value;
  }
  return version;
}
