/** RFC 6901: `/metadata/labels/a~1b` as its reference tokens. Undefined when the text is not a pointer. */
export function parsePointer(text: string): string[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  const tokens = text.split('/');
  tokens.shift();
  if (!text.includes('~')) return tokens;
  // ~1 first: `~01` is the escaped form of `~1`, not of `/`.
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The position an array token names; undefined for anything but plain digits without leading zeros. */
export function arrayIndex(token: string): number | undefined {
  return /^(0|[1-9][0-9]{0,8})$/.test(token) ? Number(token) : undefined;
}

/** A pointer as shown in a message; hostile ones can be megabytes long. */
export function shownPointer(text: string): string {
  return JSON.stringify(text.length <= 200 ? text : `${text.slice(0, 200)}…`);
}
