const MAX_PATHS = 100;
const MAX_CHARACTERS = 64 * 1024;

/** Paths as clients read them (`spec.tags[0].name`). A hostile body has any number of them: only the first are kept. */
export class PathList {
  readonly paths: string[] = [];
  #characters = 0;

  add(segments: readonly (string | number)[]): void {
    if (this.paths.length >= MAX_PATHS || this.#characters > MAX_CHARACTERS) return;
    const path = dotted(segments);
    this.#characters += path.length;
    this.paths.push(path);
  }
}

/** Names are joined by dots, indices stand in brackets. */
export function dotted(segments: readonly (string | number)[]): string {
  let path = '';
  for (const segment of segments) {
    if (typeof segment === 'number') path += `[${segment}]`;
    else path += path === '' ? segment : `.${segment}`;
  }
  return path;
}
