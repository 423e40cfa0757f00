import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Vacancies } from './vacancies.ts';

/** The same by looking at every number. */
class Plain {
  readonly closed = new Set<number>();
  readonly shut: (number: number) => boolean;
  constructor(shut: (number: number) => boolean) {
    this.shut = shut;
  }
  isOpen(number: number): boolean {
    return !this.closed.has(number) && !this.shut(number);
  }
  next(from: number): number {
    let number = from;
    while (!this.isOpen(number)) number += 1;
    return number;
  }
}

const steps = fc.array(
  fc.record({
    action: fc.constantFrom<'close' | 'open'>('close', 'close', 'open'),
    from: fc.nat(2500),
    length: fc.oneof(fc.constant(1), fc.nat(700)),
  }),
  { maxLength: 30 },
);

for (const [name, shut] of [
  ['every number', () => false],
  ['all but every 256th number', () => true],
  ['all but the first of every other group', (group: number) => group % 2 === 0],
] as const) {
  test(`the next open number is the one that looking at each finds, where ${name} may open`, () => {
    fc.assert(
      fc.property(steps, fc.array(fc.nat(3500), { minLength: 1, maxLength: 10 }), (actions, questions) => {
        const vacancies = new Vacancies(shut);
        const plain = new Plain((number) => number % 256 === 0 && shut(number / 256));
        for (const { action, from, length } of actions) {
          for (let number = from; number < from + length; number += 1) {
            vacancies[action](number);
            if (action === 'close') plain.closed.add(number);
            else plain.closed.delete(number);
          }
        }
        for (const question of questions) {
          assert.equal(vacancies.isOpen(question), plain.isOpen(question));
          assert.equal(vacancies.next(question), plain.next(question));
        }
      }),
    );
  });
}

test('a run of a million closed numbers is skipped and its holes are found', () => {
  const vacancies = new Vacancies(() => true);
  for (let number = 0; number < 1_000_000; number += 1) vacancies.close(number);
  assert.equal(vacancies.next(1), 1_000_000);
  vacancies.open(777_777);
  assert.equal(vacancies.next(1), 777_777);
  vacancies.open(256);
  assert.equal(vacancies.next(1), 777_777);
});

test('large numbers are as good as small ones', () => {
  const vacancies = new Vacancies();
  const number = 2 ** 48 - 300;
  vacancies.close(number);
  assert.equal(vacancies.next(number), number + 1);
  assert.equal(vacancies.next(0), 0);
});
