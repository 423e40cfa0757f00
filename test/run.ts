// npm test: the static checks, then every test file. With words behind it (npm test -- ipam dns), only the test files
// whose path contains one of them.
import { kubectl } from './kubectl/kubectl.ts';
import { buildMetalbond, metalbondIsMissing } from './peers/metalbond.ts';
import { errorText, Report } from './running/report.ts';
import { staticChecks } from './running/static-checks.ts';
import { runTestFiles, testFiles } from './running/test-files.ts';

const words = process.argv.slice(2);
const files = testFiles().filter(({ file }) => words.length === 0 || words.some((word) => file.includes(word)));
const report = new Report();

if (words.length > 0) {
  report.note(`a part only: the ${files.length} test files with ${words.join(' or ')} in their path, no static checks`);
} else {
  for await (const check of staticChecks()) report.file(check);
}
// Before the tests, because building a peer takes longer than a test may.
if (files.some(({ source }) => source.includes('kubectl.ts'))) {
  const found = kubectl().then(({ path, version }) => `kubectl ${version} (${path})`);
  report.note(await found.catch(errorText));
}
if (files.some(({ source }) => source.includes('./metalbond.ts'))) {
  const missing = metalbondIsMissing();
  if (missing === false) report.note(await buildMetalbond().then(({ server }) => `metalbond (${server})`, errorText));
  else report.note(`no metalbond: ${missing}`);
}
await runTestFiles({ files, report, minutesForOne: 4, minutesForAll: 20 });
report.end();
process.exit(report.passed ? 0 : 1);
