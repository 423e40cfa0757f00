/** What is wrong with a key of a ConfigMap's or Secret's data: keys become file names. */
export function dataKeyFaults(key: string): string[] {
  const faults: string[] = [];
  if (Buffer.byteLength(key) > 253) faults.push('must be no more than 253 characters');
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
    faults.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    );
  }
  if (key === '.' || key === '..') faults.push(`must not be '${key}'`);
  else if (key.startsWith('..')) faults.push("must not start with '..'");
  return faults;
}

/** All data of one object together. */
export const DATA_LIMIT = 1024 * 1024;

/** How many bytes the base64 text stands for; undefined if it is no base64. */
export function decodedLength(text: string): number | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}
