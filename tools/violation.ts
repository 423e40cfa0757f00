/** Where a source file breaks a rule of this project, and what would be right. */
export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly sentence: string;
}

export function describe({ file, line, sentence }: Violation): string {
  return `${file}:${line}: ${sentence}`;
}
