/** The same text is the same number below `count` each time, and the numbers are equally frequent. This is FNV-1a. */
export function spread(text: string, count: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % count;
}
