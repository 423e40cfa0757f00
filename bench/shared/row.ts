/** A line of the table. */
export interface Row {
  readonly work: string;
  readonly goal: string;
  readonly measured: string;
  readonly holds: boolean;
  /** What else is good to know. */
  readonly notes?: readonly string[];
}

export function printRow({ work, goal, measured, holds, notes = [] }: Row): void {
  console.log(`${holds ? 'holds ' : 'MISSED'}  ${work}`);
  console.log(`        goal      ${goal}`);
  console.log(`        measured  ${measured}`);
  for (const note of notes) console.log(`                  ${note}`);
}
