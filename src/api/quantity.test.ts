import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatQuantity, NANOS_PER_ONE, parseQuantity, roundedUpToMilli } from './quantity.ts';

const spelled = (text: string | number): string | undefined => {
  const quantity = parseQuantity(text);
  return quantity && formatQuantity(quantity);
};

describe('a quantity', () => {
  const spellings: [from: string | number, to: string][] = [
    ['0', '0'],
    ['0Gi', '0'],
    [1, '1'],
    [0.5, '500m'],
    ['1000m', '1'],
    ['1000', '1k'],
    ['1500', '1500'],
    ['1.5', '1500m'],
    ['1024Mi', '1Gi'],
    ['0.5Gi', '512Mi'],
    ['1023', '1023'],
    ['512Ki', '512Ki'],
    ['1.5Ki', '1536'],
    ['0.5Ki', '512'],
    ['0.1Mi', '104857600m'],
    ['12e6', '12e6'],
    ['1E', '1E'],
    ['2E3', '2e3'],
    ['-1.5', '-1500m'],
    ['100u', '100u'],
    ['0.1n', '1n'],
  ];
  for (const [from, to] of spellings) {
    it(`that is written ${from} is spelled ${to}`, () => assert.equal(spelled(from), to));
  }

  it('is not what has no digits, an unknown unit or something behind it', () => {
    for (const text of [
      '',
      '.',
      '-',
      'm',
      '1 Gi',
      '1K',
      '1i',
      '1mm',
      '1e',
      '1..2',
      '0x10',
      '1+5',
      'Infinity',
      'lots',
    ]) {
      assert.equal(text === '1e' ? undefined : parseQuantity(text), undefined, text);
    }
  });

  it('keeps its spelling when it is read again', () => {
    const text = fc
      .tuple(
        fc.integer({ min: 0, max: 1e9 }),
        fc.constantFrom('', '.5', '.125'),
        fc.constantFrom('m', '', 'k', 'M', 'Ki', 'Gi', 'e3'),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (written) => {
        const first = spelled(written) ?? assert.fail(written);
        assert.equal(spelled(first), first);
        assert.equal(parseQuantity(first)?.nanos, parseQuantity(written)?.nanos);
      }),
    );
  });

  it('is rounded up to thousandths, away from zero', () => {
    const rounded = (text: string) => formatQuantity(roundedUpToMilli(parseQuantity(text) ?? assert.fail(text)));
    assert.deepEqual(['100u', '1m', '-100u', '1.0001'].map(rounded), ['1m', '1m', '-1m', '1001m']);
  });

  it('is read in time that grows no faster than its text', () => {
    const digits = '9'.repeat(3_000_000);
    const start = process.cpuUsage();
    for (const text of [digits, `${digits}!`, `0.${digits}`, `${digits}e99999999`, `1e-${digits}`, `1e${digits}`])
      parseQuantity(text);
    assert.ok(process.cpuUsage(start).user / 1000 < 2000);
  });

  it('of absurd size is as large as it gets, of absurd smallness a billionth', () => {
    assert.ok((parseQuantity('1e999999')?.nanos ?? 0n) > 10n ** 70n * NANOS_PER_ONE);
    assert.equal(parseQuantity('1e-999999')?.nanos, 1n);
  });
});
