// npm run test:cluster: the same objects and controllers on a real Kubernetes: etcd, kube-apiserver and kube-controller-manager, built
// from their Go modules, which takes ten minutes of a processor the first time. Words behind it choose files by path.
import { buildKubernetes } from './peers/kubernetes.ts';
import { Report } from './running/report.ts';
import { runTestFiles, testFiles } from './running/test-files.ts';

const words = process.argv.slice(2);
const files = testFiles('cluster').filter(
  ({ file }) => words.length === 0 || words.some((word) => file.includes(word)),
);
const report = new Report();

report.note('finding Kubernetes, or building it from its Go modules, which takes ten minutes of a processor');
const { etcd } = await buildKubernetes();
report.note(`Kubernetes (beside ${etcd})`);
await runTestFiles({ files, report, minutesForOne: 10, minutesForAll: 20 });
report.end();
process.exit(report.passed ? 0 : 1);
