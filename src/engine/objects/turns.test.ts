import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Turns } from './turns.ts';

describe('turns', () => {
  it('are taken side by side by those who go with others', async () => {
    const turns = new Turns();
    const end = await turns.take('east', { alone: false });
    const endOther = await turns.take('east', { alone: false });
    end();
    endOther();
  });

  it('of one line keep nobody of another one waiting', async () => {
    const turns = new Turns();
    const end = await turns.take('east', { alone: true });
    const endOther = await turns.take('west', { alone: true });
    end();
    endOther();
  });

  it('come in the order of asking, and nobody is there beside who goes alone', async () => {
    const wishes = fc.array(fc.record({ alone: fc.boolean(), pause: fc.nat(3) }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(wishes, async (all) => {
        const turns = new Turns();
        const present = new Map<number, boolean>();
        const came: number[] = [];
        await Promise.all(
          all.map(async ({ alone, pause }, i) => {
            const end = await turns.take('east', { alone });
            came.push(i);
            const others = [...present.values()];
            assert.ok(alone ? others.length === 0 : !others.includes(true), `${i} is not where it may be`);
            present.set(i, alone);
            for (let tick = 0; tick < pause; tick += 1) await Promise.resolve();
            present.delete(i);
            end();
          }),
        );
        assert.equal(came.length, all.length);
        const alone = came.filter((i) => all[i]?.alone);
        assert.deepEqual(
          alone,
          alone.toSorted((a, b) => a - b),
        );
      }),
    );
  });
});
