import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { needsRoot, temporaryNamespace } from './network.fixture.ts';
import { inNetworkNamespace } from './network-namespace.ts';
import { deleteTable, isSourceCheck, putSourceCheck } from './source-check.ts';

const TABLE = 'netloom-test';

test('a check of sources is one rule, however often it is made', needsRoot, (t) => {
  inNetworkNamespace(temporaryNamespace(t), () => {
    const rules = (): string => execFileSync('nft', ['list', 'ruleset'], { encoding: 'utf8' });
    for (let time = 0; time < 2; time += 1) {
      putSourceCheck(TABLE, 1234);
      const words = rules().replace(/\s+/g, ' ');
      assert.match(
        words,
        /^table ip6 netloom-test \{ chain sources \{ type filter hook prerouting priority raw; policy accept; /,
      );
      assert.match(words, /accept; iifgroup 1234 fib saddr \. iif oif (missing|0) drop \} \} $/);
      assert.equal(isSourceCheck(TABLE), true);
      execFileSync('nft', ['flush', 'chain', 'ip6', TABLE, 'sources']);
      assert.equal(isSourceCheck(TABLE), false);
    }
    for (let time = 0; time < 2; time += 1) deleteTable(TABLE);
    assert.equal(rules(), '');
    assert.equal(isSourceCheck(TABLE), false);
  });
});

test('what the kernel says against a table is said, and nothing of it is left', needsRoot, (t) => {
  inNetworkNamespace(temporaryNamespace(t), () => {
    assert.throws(() => putSourceCheck('x'.repeat(300), 1), /make the table x+: .*\((EINVAL|ENAMETOOLONG|ERANGE)\)/);
    assert.equal(execFileSync('nft', ['list', 'ruleset'], { encoding: 'utf8' }), '');
  });
});
