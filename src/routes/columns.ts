/**
 * Routes are kept in columns of numbers instead of objects: a million of them then cost a hundred bytes each and the
 * garbage collector nothing. A column is a typed array that its owner replaces by a larger one when it is full.
 */
export type Column = Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/** Reads a place that is known to exist. */
export function at(column: Column | Uint8Array, place: number): number {
  return column[place] ?? 0;
}

/** The same numbers with room for more; new places hold `fill`. */
export function grown<C extends Column>(column: C, length: number, fill?: number): C;
export function grown(column: Column, length: number, fill = 0): Column {
  const larger = column instanceof Int32Array ? new Int32Array(length) : new Uint32Array(length);
  larger.set(column);
  if (fill !== 0) larger.fill(fill, column.length);
  return larger;
}
