/** `Warning` headers in the form that clients of Kubernetes understand; a flood is cut down rather than sent. */
export function warningHeaders(warnings: readonly string[]): { Warning?: string[] } {
  if (warnings.length === 0) return {};
  const total = warnings.reduce((sum, text) => sum + text.length, 0);
  const cut = total > 4096 ? 256 : 4096;
  const headers: string[] = [];
  let size = 0;
  for (const text of new Set(warnings)) {
    const header = `299 - "${printable(text.slice(0, cut))}"`;
    size += header.length;
    if (size > 4096 && headers.length > 0) break;
    headers.push(header);
  }
  return { Warning: headers };
}

/** Headers hold no line ends and only Latin letters; quotes and backslashes are escaped. */
const printable = (text: string): string =>
  text
    .replace(/[^\x20-\x7e]+/g, (characters) => (/^\s+$/.test(characters) ? ' ' : '?'))
    .replace(/["\\]/g, (character) => `\\${character}`);
