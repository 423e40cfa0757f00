import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SpareNames } from './pod-writes.ts';

describe('names of pods whose making was never confirmed', () => {
  it('are used again, unless such a pod has turned up: another one is to be made then', () => {
    const spare = new SpareNames();
    for (const name of ['web-a', 'web-b', 'web-c']) spare.keep('owner', name);
    const taken = new Set(['web-a']);
    const take = (): string | undefined => spare.take('owner', (name) => taken.has(name));
    assert.equal(take(), 'web-b');
    taken.add('web-c');
    assert.equal(take(), undefined);
    taken.clear();
    assert.equal(take(), undefined, 'whoever has turned up is forgotten');
  });
});
