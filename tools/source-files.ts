import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '..');

/** The TypeScript below some folders of the project, one folder after the other: paths relative to its root, with their content. */
export function sourceFiles(...folders: readonly string[]): { file: string; source: string }[] {
  return folders
    .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }).sort())
    .map((file) => ({ file, source: readFileSync(path.join(root, file), 'utf8') }));
}
