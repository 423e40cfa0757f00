/** ` Did you mean "x"?` for the known word that is probably meant, or nothing. */
export function suggestion(unknown: string, known: readonly string[]): string {
  const [best] = known
    .map((word) => ({ word, distance: word.startsWith(unknown) ? 0 : editDistance(unknown, word) }))
    // A third of a word may be wrong: more, and the guess confuses more than it helps.
    .filter(({ word, distance }) => distance <= Math.ceil(word.length / 3))
    .sort((a, b) => a.distance - b.distance);
  return best === undefined ? '' : ` Did you mean "${best.word}"?`;
}

/** How many letters must be inserted, removed, replaced or swapped with their neighbour. */
export function editDistance(from: string, to: string): number {
  // What is much longer than any command is no slip of the finger, and the cost below is quadratic.
  if (Math.abs(from.length - to.length) > to.length) return Number.POSITIVE_INFINITY;
  const rows: number[][] = [];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 0; row <= from.length; row++) {
    rows.push([]);
    for (let column = 0; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      rows[row]?.push(
        row === 0 || column === 0
          ? row + column
          : Math.min(
              at(row - 1, column) + 1,
              at(row, column - 1) + 1,
              at(row - 1, column - 1) + (same ? 0 : 1),
              swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
            ),
      );
    }
  }
  return at(from.length, to.length);
}
