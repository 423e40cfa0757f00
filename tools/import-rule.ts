import path from 'node:path';
import { allowedTo, isForTests, isKnownLayer, mayImport, placeOf } from './layers.ts';
import { type Token, tokensOf } from './tokens.ts';
import type { Violation } from './violation.ts';

/**
 * Imports point downwards only (see layers.ts), so that every part can be understood, tested and replaced without
 * those above it; and what is shipped needs no package that is there for development.
 */
export function importViolations(file: string, source: string, packages: ReadonlySet<string>): Violation[] {
  const here = placeOf(file);
  if (here === undefined) return [];
  if (!isKnownLayer(here.layer)) {
    return [
      { file, line: 1, sentence: `src/${here.layer} has no place in tools/layers.ts; say there what it may import` },
    ];
  }
  const isTest = isForTests(file);

  return importsOf(source).flatMap(({ specifier, line }) => {
    const violation = (sentence: string) => [{ file, line, sentence }];
    if (!specifier.startsWith('.')) {
      const name = packageName(specifier);
      if (isTest || specifier.startsWith('node:') || packages.has(name)) return [];
      return violation(`${name} is not among the dependencies of package.json; what is shipped can only import those`);
    }
    const target = path.posix.join(path.posix.dirname(file), specifier);
    const there = placeOf(target);
    if (there === undefined) {
      if (target === 'package.json' || (isTest && target.startsWith('test/'))) return [];
      return violation(
        `${target} is outside src/; ${isTest ? 'a test here imports src/ and test/ only' : 'what is shipped imports src/ only'}`,
      );
    }
    if (isForTests(target) && !isTest)
      return violation(`${target} is there for tests only; what is shipped cannot import it`);
    if (mayImport(here, there)) return [];
    return violation(`${folder(file)} may not import src/${there.layer} (${target}), only: ${allowedTo(here)}`);
  });
}

export function importsOf(source: string): { specifier: string; line: number }[] {
  const tokens = tokensOf(source);
  return tokens.flatMap((token, index) => {
    if (token.kind !== 'string') return [];
    const before = tokens[index - 1];
    const imported =
      isWord(before, 'from') ||
      isWord(before, 'import') ||
      (before?.text === '(' && isWord(tokens[index - 2], 'import'));
    return imported ? [{ specifier: token.text, line: token.line }] : [];
  });
}

function isWord(token: Token | undefined, text: string): boolean {
  return token?.kind === 'word' && token.text === text;
}

function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** `src/dns/host` for what runs on a host, `src/dns` for the rest. */
function folder(file: string): string {
  const place = placeOf(file);
  return `src/${place?.layer}${place?.onHost ? '/host' : ''}`;
}
