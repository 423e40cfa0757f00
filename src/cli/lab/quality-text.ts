/** What a link is like, as it is written in a document; nothing for one that has no limits. */
export function qualityText({
  bitsPerSecond,
  loss = 0,
  delayMs,
}: {
  readonly bitsPerSecond?: number | undefined;
  readonly loss?: number | undefined;
  readonly delayMs?: number | undefined;
}): string {
  return [
    ...(bitsPerSecond === undefined ? [] : [`rate ${rateText(bitsPerSecond)}`]),
    ...(loss === 0 ? [] : [`loss ${Number((loss * 100).toPrecision(6))}%`]),
    ...(delayMs === undefined ? [] : [`delay ${delayMs}ms`]),
  ].join(', ');
}

function rateText(bitsPerSecond: number): string {
  const [unit, size] = UNITS.find(([, each]) => bitsPerSecond >= each) ?? ['bit', 1];
  return `${Number((bitsPerSecond / size).toPrecision(6))}${unit}`;
}

const UNITS = [
  ['gbit', 1e9],
  ['mbit', 1e6],
  ['kbit', 1e3],
] as const;
