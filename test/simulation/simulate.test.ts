import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isJsonObject } from '../../src/api/json.ts';
import { AddressBlock } from '../../src/api/netloom.io/address-block.ts';
import type { Sabotage } from './addresses/process.ts';
import { tellStories } from './addresses/stories.ts';
import { tellStory } from './addresses/story.ts';
import { metadataOf, resourceOf } from './writes.ts';

const SOAK = process.env['NETLOOM_SOAK'] === '1';
const STEPS = 12;
/** The same each time in `npm test`, so that it tells about the code and not about luck; new ones in a soak. */
const FIRST = SOAK ? Math.floor(Date.now() / 1_000) * 1_000 : 1;
const SEEDS = SOAK ? 100_000 : 2_000;

const program = fileURLToPath(new URL('simulate.ts', import.meta.url));
const simulate = (...words: string[]) =>
  spawnSync(process.execPath, [program, ...words], { encoding: 'utf8', maxBuffer: 2 ** 26 });

describe('the controllers of addresses, two that believe to be the only one, a bad network and worse people', () => {
  it(`give nothing twice, lose nothing, and say why they cannot (${SEEDS} seeds from ${FIRST})`, () => {
    // In a process of its own: what the test runner follows through every promise would take twice as long again.
    const { stdout, status } = simulate('--seed', `${FIRST}`, '--seeds', `${SEEDS}`, '--steps', `${STEPS}`);
    assert.equal(status, 0, stdout);
  });

  it('go the same way for the same seed, in any process', async () => {
    const [first, again] = [await tellStory({ seed: 4, steps: 30 }), await tellStory({ seed: 4, steps: 30 })];
    assert.ok(first.trace.lines.length > 100);
    assert.deepEqual(again.trace.lines, first.trace.lines);
    assert.equal(again.trace.fingerprint, first.trace.fingerprint);
    const { stdout, status } = simulate('--seed', '4', '--steps', '30');
    assert.equal(stdout, `seed 4: all is well; fingerprint ${first.trace.fingerprint}\n`);
    assert.equal(status, 0);
    const other = await tellStory({ seed: 5, steps: 30 });
    assert.notEqual(other.trace.fingerprint, first.trace.fingerprint);
  });

  it('are found out when the version of a block does not decide who has an address', async () => {
    const said: string[] = [];
    const write = (text: string) => void said.push(text);
    assert.ok((await tellStories({ first: 1, count: 200, steps: STEPS, sabotage: withoutVersions, write })) > 0);
    const [first = ''] = said;
    assert.match(first, /^seed \d+ \(.*leader-\d +writes .*\nWRONG .*\nagain: npm run simulate -- --seed \d+/s);
  });
});

describe('npm run simulate', () => {
  it('tells how it is used', () => {
    const { stdout, status } = simulate('--help');
    assert.match(stdout, /--seed N/);
    assert.equal(status, 0);
  });

  it('says what it takes', () => {
    const { stderr, status } = simulate('--seed', 'seven');
    assert.equal(stderr, '--seed takes a whole number, not "seven"; --help says more\n');
    assert.equal(status, 2);
  });

  it('says what it does not know, and how it is used', () => {
    const { stderr, status } = simulate('--bogus');
    assert.match(stderr, /^Unknown option '--bogus'\n\nnpm run simulate -- \[--seed N\].*--help +this\n$/s);
    assert.equal(status, 2);
  });

  it('goes through as many seeds as it is told', () => {
    const { stdout, status } = simulate('--seed', '1', '--seeds', '3', '--steps', '2');
    assert.match(stdout, /^3 seeds from 1 with 2 steps each in \d+ s: 0 failed\n$/);
    assert.equal(status, 0);
  });
});

/** Blocks are written over whatever somebody else has written meanwhile. */
const withoutVersions: Sabotage = (transport, { store }) => ({
  request: (request) => {
    const { method, path, body } = request;
    const [, namespace, name] = /\/namespaces\/([^/]+)\/addressblocks\/([^/?]+)/.exec(path) ?? [];
    if (method !== 'PUT' || name === undefined || !isJsonObject(body)) return transport.request(request);
    const { resourceVersion = null } = metadataOf(store.get(resourceOf(AddressBlock), `${namespace}/${name}`) ?? body);
    return transport.request({ ...request, body: { ...body, metadata: { ...metadataOf(body), resourceVersion } } });
  },
  stream: (request) => transport.stream(request),
});
