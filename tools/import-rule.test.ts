import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importsOf, importViolations } from './import-rule.ts';

const sentences = (file: string, specifier: string) =>
  importViolations(file, `import { x } from '${specifier}';`, new Set(['yaml', '@peculiar/x509'])).map(
    ({ sentence }) => sentence,
  );
const allowed = (file: string, specifier: string) => assert.deepEqual(sentences(file, specifier), []);
const refused = (file: string, specifier: string, why: RegExp) => {
  const [sentence, ...more] = sentences(file, specifier);
  assert.match(sentence ?? 'nothing was refused', why);
  assert.deepEqual(more, []);
};

test('every form of import is seen, on its line', () => {
  const source = `
    import a from './a.ts';
    import './b.ts';
    import type { C } from './c.ts';
    export * from './d.ts';
    export { e } from
      './e.ts';
    const f = await import('./f.ts');
    type G = import('./g.ts').G;
    // import h from './h.ts';
    const text = "import i from './i.ts'";`;
  assert.deepEqual(
    importsOf(source).map(({ specifier, line }) => `${specifier} ${line}`),
    ['./a.ts 2', './b.ts 3', './c.ts 4', './d.ts 5', './e.ts 7', './f.ts 8', './g.ts 9'],
  );
});

test('imports point downwards', () => {
  allowed('src/runtime/client.ts', '../api/object.ts');
  refused('src/api/object.ts', '../runtime/client.ts', /^src\/api may not import src\/runtime .*only: itself$/);
  allowed('src/ipam/plan.ts', '../ledger/pool.ts');
  refused('src/ledger/pool.ts', '../ipam/plan.ts', /^src\/ledger may not import src\/ipam/);
  allowed('src/agent/agent.ts', '../dns/host/daemon.ts');
  refused('src/dns/host/daemon.ts', '../../agent/agent.ts', /^src\/dns\/host may not import src\/agent/);
});

test('capabilities do not import each other', () => {
  refused('src/dns/names.ts', '../ipam/plan.ts', /^src\/dns may not import src\/ipam/);
  allowed('src/dns/controller/names.ts', '../zone.ts');
});

test('only what runs on a host, and the agent, touches the kernel', () => {
  allowed('src/dns/host/daemon.ts', '../../linux/process.ts');
  allowed('src/liveness/host/beat.ts', '../../linux/process.ts');
  allowed('src/agent/agent.ts', '../linux/process.ts');
  refused('src/dns/names.ts', '../linux/process.ts', /^src\/dns may not import src\/linux/);
  refused('src/ledger/host/x.ts', '../../linux/process.ts', /may not import src\/linux/);
});

test('only the command line imports the engine', () => {
  allowed('src/cli/up.ts', '../engine/engine.ts');
  refused('src/agent/agent.ts', '../engine/engine.ts', /^src\/agent may not import src\/engine/);
  refused('src/ipam/plan.test.ts', '../engine/engine.ts', /^src\/ipam may not import src\/engine/);
  allowed('src/engine/http/server.ts', '../../runtime/log.ts');
  refused('src/engine/http/server.ts', '../../ledger/pool.ts', /^src\/engine may not import src\/ledger/);
});

test('what is shipped imports only src/, and packages that are shipped too', () => {
  allowed('src/api/object.ts', 'node:fs');
  allowed('src/api/object.ts', 'yaml');
  allowed('src/engine/auth/keys.ts', '@peculiar/x509');
  refused('src/api/object.ts', 'fast-check', /^fast-check is not among the dependencies/);
  refused('src/api/object.ts', '@kubernetes/client-node', /^@kubernetes\/client-node is not among/);
  refused('src/api/object.ts', '../../test/kubectl/kubectl.ts', /is outside src\//);
});

test('a test, and what only tests use, may import packages for development and what lies in test/', () => {
  allowed('src/api/object.test.ts', 'fast-check');
  allowed('src/api/object.test.ts', '../../test/kubectl/kubectl.ts');
  refused(
    'src/api/object.test.ts',
    '../../tools/tokens.ts',
    /outside src\/; a test here imports src\/ and test\/ only/,
  );
  allowed('src/api/object.fixture.ts', 'fast-check');
  allowed('src/api/testing/objects.ts', 'fast-check');
  allowed('src/api/object.test.ts', './testing/objects.ts');
});

test('what is shipped does not import what only tests use', () => {
  refused('src/api/object.ts', './object.fixture.ts', /is there for tests only/);
  refused('src/api/object.ts', './testing/objects.ts', /is there for tests only/);
});

test('a folder that has no place yet is noticed', () => {
  assert.match(
    importViolations('src/misc/x.ts', '', new Set())[0]?.sentence ?? '',
    /src\/misc has no place in tools\/layers\.ts/,
  );
});

test('what is not in src/ may import anything', () => {
  allowed('test/e2e/x.test.ts', '../../src/engine/engine.ts');
  allowed('tools/x.ts', 'fast-check');
});
