import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { cleaned, hostsFile, leftOut, textOf } from './hosts-file.ts';

describe('a hosts file', () => {
  it('has a line for each host, in the order given, with its names sorted', () => {
    const { lines, faults } = hostsFile([
      { ip: '192.168.122.100', hostnames: ['edpm-compute-0.ctlplane', 'a.example.com'] },
      { ip: 'fd00::0010', hostnames: ['six.example.com'] },
    ]);
    assert.equal(textOf(lines), '192.168.122.100 a.example.com edpm-compute-0.ctlplane\nfd00::10 six.example.com\n');
    assert.deepEqual(faults, []);
  });

  it('leaves out what is no address or no name, says which and why, and serves the rest', () => {
    const { lines, faults } = hostsFile([
      { ip: '172.17.0.300', hostnames: ['a.example.com'] },
      { ip: '172.17.0.3', hostnames: ['bad name', 'good.example.com', '-x', 'a..b', ''] },
      { ip: '172.17.0.4', hostnames: ['{{ .Values }}'] },
    ]);
    assert.equal(textOf(lines), '172.17.0.3 good.example.com\n');
    assert.deepEqual(faults, [
      'hosts[0].ip: "172.17.0.300" is not an IP address',
      'hosts[1].hostnames[0]: "bad name" is no host name: its parts consist of letters, digits, - and _, and neither begin nor end with -',
      'hosts[1].hostnames[2]: "-x" is no host name: its parts consist of letters, digits, - and _, and neither begin nor end with -',
      'hosts[1].hostnames[3]: "a..b" is no host name: two dots follow each other, or it begins with one',
      'hosts[1].hostnames[4]: "" is no name: leave it out',
      'hosts[2].hostnames[0]: "{{ .Values }}" is no host name: its parts consist of letters, digits, - and _, and neither begin nor end with -',
    ]);
    assert.match(leftOut(faults), /^6 host entries are left out: .*; and 1 more$/);
  });

  it('never has more lines than hosts, whatever is in them', () => {
    const host = fc.record({ ip: fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), hostnames: fc.array(fc.string()) });
    fc.assert(
      fc.property(fc.array(host), (hosts) => {
        const text = textOf(hostsFile(hosts).lines);
        assert.ok(text.split('\n').length - 1 <= hosts.length);
        assert.match(text, /^([0-9a-f.:]+( [a-z0-9._-]+)+\n)*$/i);
      }),
    );
  });

  it('that somebody wrote keeps its order, without what it would stumble over', () => {
    const { lines, faults } = cleaned('# names\n10.0.0.1  b a # two\n\nnonsense\n10.0.0.2 ok bad!\n10.0.0.3\n');
    assert.equal(textOf(lines), '10.0.0.1 b a\n10.0.0.2 ok\n');
    assert.deepEqual(faults, [
      'line 4: "nonsense" is not an IP address',
      'line 5: "bad!" is no host name: its parts consist of letters, digits, - and _, and neither begin nor end with -',
    ]);
  });
});
