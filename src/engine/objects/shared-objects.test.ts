import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SharedObjects } from './shared-objects.ts';

const bytesOf = (name: string): Buffer => Buffer.from(JSON.stringify({ name }));

describe('objects that are shared', () => {
  it('are decoded once for all who look at the same bytes', () => {
    const shared = new SharedObjects({ generationBytes: 1024 });
    const bytes = bytesOf('a');
    assert.deepEqual(shared.of(bytes), { name: 'a' });
    assert.equal(shared.of(bytes), shared.of(bytes));
  });

  it('need not be decoded by whoever wrote them', () => {
    const shared = new SharedObjects({ generationBytes: 1024 });
    const [bytes, object] = [bytesOf('a'), { name: 'a' }];
    shared.share(bytes, object);
    assert.equal(shared.find(bytes), object);
  });

  it('are forgotten when nobody has asked for them for a while', () => {
    const shared = new SharedObjects({ generationBytes: 100 });
    const [idle, busy] = [bytesOf('idle'), bytesOf('busy')];
    shared.of(idle);
    for (let i = 0; i < 100; i += 1) {
      shared.of(busy);
      shared.of(bytesOf(`other-${i}`));
    }
    assert.equal(shared.find(idle), undefined);
    assert.notEqual(shared.find(busy), undefined);
  });

  it('cannot be changed, nor be other than their bytes, while one is strict', () => {
    const shared = new SharedObjects({ generationBytes: 1024 });
    shared.beStrict();
    const object = shared.of(Buffer.from('{"spec":{"size":1}}'));
    assert.throws(() => Object.assign(object['spec'] ?? {}, { size: 2 }), TypeError);
    assert.throws(() => shared.share(bytesOf('a'), { name: 'b' }), /is not what its bytes say/);
  });
});
