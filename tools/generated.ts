import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { customResourceDefinitions } from './generated-crds.ts';
import { roles } from './generated-roles.ts';
import { root } from './source-files.ts';

/** A folder that is written by a program and by nobody else. */
export interface GeneratedFolder {
  /** Relative to the root of the project. */
  readonly folder: string;
  /** The content of every file in it, by name. */
  readonly files: () => ReadonlyMap<string, string>;
}

export const generatedFolders: readonly GeneratedFolder[] = [customResourceDefinitions, roles];

/** The files that differ from what their generator would write now, are missing, or should not be there. */
export function staleFiles({ folder, files }: GeneratedFolder, base = root): string[] {
  const wanted = files();
  const names = new Set([...wanted.keys(), ...namesIn(path.join(base, folder))]);
  return [...names]
    .filter((name) => contentOf(path.join(base, folder, name)) !== wanted.get(name))
    .map((name) => path.join(folder, name))
    .sort();
}

/** Makes the folder what it should be, and answers what has changed. */
export function writeGenerated(generated: GeneratedFolder, base = root): string[] {
  const stale = staleFiles(generated, base);
  const wanted = generated.files();
  mkdirSync(path.join(base, generated.folder), { recursive: true });
  for (const file of stale) {
    const content = wanted.get(path.basename(file));
    if (content === undefined) rmSync(path.join(base, file));
    else writeFileSync(path.join(base, file), content);
  }
  return stale;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
