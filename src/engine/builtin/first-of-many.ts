const MOST = 3;

/** The first few of what may be many, and how many more there are: for a column of a table. */
export function firstOfMany(texts: readonly string[], ifNone: string): string {
  const shown = texts.slice(0, MOST).join(',');
  if (texts.length > MOST) return `${shown} + ${texts.length - MOST} more...`;
  return shown || ifNone;
}
