const NANOS = new Map<string, bigint>([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const MAX = 2n ** 63n;

/** A duration as Go writes it (`1h30m`, `-1.5s`), in nanoseconds; undefined for what is none. */
export function parseGoDuration(text: string): bigint | undefined {
  const unsigned = /^[-+]?(?=.)/.exec(text);
  if (unsigned === null) return undefined;
  let at = unsigned[0].length;
  if (text.slice(at) === '0') return 0n;
  let nanos = 0n;
  while (at < text.length) {
    PART.lastIndex = at;
    const part = PART.exec(text);
    const [whole, digits = '', fraction = '', unit = ''] = part ?? [];
    const factor = NANOS.get(unit);
    if (whole === undefined || factor === undefined || digits.length + fraction.length === 0) return undefined;
    if (digits.length > 19) return undefined;
    const precise = fraction.slice(0, 18);
    nanos += BigInt(digits === '' ? '0' : digits) * factor;
    if (precise !== '') nanos += (BigInt(precise) * factor) / 10n ** BigInt(precise.length);
    if (nanos > MAX) return undefined;
    at += whole.length;
  }
  const signed = text.startsWith('-') ? -nanos : nanos;
  return signed === MAX ? undefined : signed;
}
const PART = /(\d*)(?:\.(\d*))?([a-zµμ]+)/y;

/** As Go, or in words (`2 days`, `3 hours 5 minutes`): what the format `duration` of a schema admits. */
export function parseDuration(text: string): bigint | undefined {
  const nanos = parseGoDuration(text);
  if (nanos !== undefined) return nanos;
  let sum: bigint | undefined;
  for (const [, digits = '', word = ''] of text.matchAll(/(?<!\d)(\d+)\s*([A-Za-zµ]+)/g)) {
    const factor = WORDS.find(([names]) => names.test(word))?.[1];
    if (factor !== undefined && digits.length < 19) sum = (sum ?? 0n) + BigInt(digits) * factor;
  }
  return sum;
}

const WORDS: readonly (readonly [RegExp, bigint])[] = [
  [/^(ns|nano)/i, 1n],
  [/^(us$|µs$|micro)/i, 1_000n],
  [/^(ms$|milli)/i, 1_000_000n],
  [/^(s$|sec)/i, 1_000_000_000n],
  [/^(m$|min)/i, 60_000_000_000n],
  [/^(h$|hr$|hour)/i, 3_600_000_000_000n],
  [/^(d$|day)/i, 86_400_000_000_000n],
  [/^(w$|wk$|week)/i, 604_800_000_000_000n],
];
