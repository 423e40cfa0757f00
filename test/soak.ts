// npm run soak: the suites that can go on for as long as they are told, with the long times. Words behind it
// choose among them by path.
import { Report } from './running/report.ts';
import { runTestFiles, testFiles } from './running/test-files.ts';

/** What makes a suite go on for longer; a suite that reads none of these is no soak. */
const soaking = { NETLOOM_SOAK: '1', NETLOOM_CRASH_ROUNDS: '500' };

const words = process.argv.slice(2);
const files = testFiles()
  .filter(({ source }) => Object.keys(soaking).some((name) => source.includes(name)))
  .filter(({ file }) => words.length === 0 || words.some((word) => file.includes(word)));
const report = new Report();

Object.assign(process.env, soaking);
await runTestFiles({ files, report, minutesForOne: 120, minutesForAll: 360 });
report.end();
process.exit(report.passed ? 0 : 1);
