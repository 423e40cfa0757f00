import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ambientViolations } from '../../tools/ambient-rule.ts';
import { importViolations } from '../../tools/import-rule.ts';
import { root, sourceFiles } from '../../tools/source-files.ts';
import { describe, type Violation } from '../../tools/violation.ts';
import { errorText, type FileOutcome, type Outcome } from './report.ts';

/** What is checked without running anything: each check finds nothing, or says what it has found. */
const checks: readonly { readonly name: string; readonly find: () => Promise<string> }[] = [
  {
    name: 'format and lint',
    find: () => complaintsOf('@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '--colors=off', '.'),
  },
  { name: 'types', find: () => complaintsOf('typescript/bin/tsc', '--project', '.') },
  { name: 'types of setup/', find: () => complaintsOf('typescript/bin/tsc', '--project', 'setup') },
  {
    name: 'imports point downwards',
    find: () => violationsIn((file, source) => importViolations(file, source, shippedPackages())),
  },
  { name: 'nothing that decides looks at the clock by itself', find: () => violationsIn(ambientViolations) },
  { name: 'generated files are up to date', find: staleGeneratedFiles },
];

/** Runs the checks one after the other; each is an outcome of its own. */
export async function* staticChecks(): AsyncGenerator<FileOutcome> {
  for (const { name, find } of checks) {
    const began = performance.now();
    const found = await find().catch(errorText);
    const outcome: Outcome = found === '' ? { name, result: 'passed' } : { name, result: 'failed', detail: found };
    yield { file: name, milliseconds: performance.now() - began, outcomes: [outcome], output: '' };
  }
}

/** What a program of a package prints when it is not content. */
function complaintsOf(program: string, ...args: string[]): Promise<string> {
  const file = path.join(root, 'node_modules', program);
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], { cwd: root, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve(error === null ? '' : `${stdout}${stderr}` || errorText(error));
    });
  });
}

async function violationsIn(rule: (file: string, source: string) => Violation[]): Promise<string> {
  return sourceFiles('src')
    .flatMap(({ file, source }) => rule(file, source))
    .map(describe)
    .join('\n');
}

function shippedPackages(): ReadonlySet<string> {
  const { dependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return new Set(Object.keys(dependencies));
}

async function staleGeneratedFiles(): Promise<string> {
  // Imported late: it loads what it generates from, and a fault there should fail this check, not all the tests.
  const { generatedFolders, staleFiles } = await import('../../tools/generated.ts');
  return generatedFolders
    .flatMap((generated) => staleFiles(generated))
    .map((file) => `${file} is not what would be generated now: run \`npm run generate\``)
    .join('\n');
}
