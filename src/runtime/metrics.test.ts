import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics, metricsText } from './metrics.ts';

test('what is read is what the sources measure at that moment', () => {
  const metrics = new Metrics();
  let value = 1;
  metrics.collect(() => [{ name: 'apples', type: 'gauge', help: 'In the basket.', samples: [{ labels: {}, value }] }]);
  value = 2;
  assert.equal(metricsText(metrics.read()), '# HELP apples In the basket.\n# TYPE apples gauge\napples 2\n');
});

test('labels and help may say anything', () => {
  const metrics = new Metrics();
  const samples = [{ labels: { a: 'say "hi"\\\n', b: '' }, value: 2 ** 64 }];
  metrics.collect(() => [{ name: 'words_total', type: 'counter', help: 'a\\b\nc', samples }]);
  assert.equal(
    metricsText(metrics.read()),
    '# HELP words_total a\\\\b\\nc\n# TYPE words_total counter\nwords_total{a="say \\"hi\\"\\\\\\n",b=""} 18446744073709552000\n',
  );
});

test('a histogram has samples under several names, and one description', () => {
  const text = metricsText([
    {
      name: 'wait_seconds',
      type: 'histogram',
      help: 'How long.',
      samples: [
        { suffix: '_bucket', labels: { le: '+Inf' }, value: 2 },
        { suffix: '_sum', labels: {}, value: 0.5 },
      ],
    },
  ]);
  assert.equal(
    text,
    '# HELP wait_seconds How long.\n# TYPE wait_seconds histogram\nwait_seconds_bucket{le="+Inf"} 2\nwait_seconds_sum 0.5\n',
  );
});
