import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json } from '../api/json.ts';
import { Route, routeWords } from './route.ts';
import { type PeerRules, RuleBook } from './rules.ts';

const rulesFor = (json: Json, remote: string, ...names: string[]): PeerRules | undefined =>
  RuleBook.parse(json).rulesFor({ remote, names });

function refusal(rules: PeerRules | undefined, text: string): string | undefined {
  const words = new Uint32Array(routeWords);
  Route.parse(text).copyTo(words);
  return rules?.refuses(words);
}

describe('which rules apply', () => {
  const book = {
    peers: [
      { name: 'host-a', maxRoutes: 1 },
      { from: '192.0.2.0/25', maxRoutes: 2 },
      { name: 'host-b', from: '2001:db8:1::/48', maxRoutes: 3 },
    ],
  };
  const cases: [string, string, string[], number | undefined][] = [
    ['the name in the certificate', '[2001:db8::1]:1', ['other', 'host-a'], 1],
    ['the address', '192.0.2.127:1', [], 2],
    ['an address outside', '192.0.2.128:1', [], undefined],
    ['name and address together', '[2001:db8:1::5]:1', ['host-b'], 3],
    ['the name alone where both are asked for', '[2001:db8:2::5]:1', ['host-b'], undefined],
    ['nothing that fits', '[2001:db8::1]:1', ['host-x'], undefined],
  ];
  for (const [name, remote, names, maxRoutes] of cases) {
    test(name, () => assert.equal(rulesFor(book, remote, ...names)?.maxRoutes, maxRoutes));
  }

  test('without a rule book everybody may connect', () => {
    assert.notEqual(new RuleBook().rulesFor({ remote: '[::1]:1', names: [] }), undefined);
  });
});

describe('what a peer may announce', () => {
  const rules = rulesFor({ peers: [{ vnis: [7, '100-199'], prefixes: ['10.0.0.0/8', '2001:db8::/33'] }] }, '[::1]:1');
  const cases: [string, string | undefined][] = [
    ['7#10.1.2.3/32#::1', undefined],
    ['100#10.0.0.0/8#::1', undefined],
    ['199#2001:db8:7fff::/48#::1', undefined],
    ['200#10.1.2.3/32#::1', 'VNI not allowed'],
    ['7#11.0.0.0/32#::1', 'prefix not allowed'],
    ['7#10.0.0.0/7#::1', 'prefix not allowed'],
    ['7#0.0.0.0/0#::1', 'prefix not allowed'],
    ['7#2001:db8:8000::/48#::1', 'prefix not allowed'],
    ['7#a00::/8#::1', 'prefix not allowed'],
  ];
  for (const [route, expected] of cases)
    test(`${route}: ${expected ?? 'allowed'}`, () => assert.equal(refusal(rules, route), expected));
});

describe('a rule book that is wrong is refused with the place and what would be right', () => {
  const cases: [Json, RegExp][] = [
    [[], /no list "peers"/],
    [{ peers: [5] }, /peers\[0\]: must be an object/],
    [{ peers: [{}, { vni: [1] }] }, /peers\[1\]: field "vni" is unknown; there are name, from, vnis/],
    [{ peers: [{ vnis: ['9-3'] }] }, /peers\[0\]: vnis: "9-3" is not a VNI or a range like "200-299"/],
    [{ peers: [{ vnis: [1.5] }] }, /whole number from 0 to 16777215/],
    [{ peers: [{ vnis: ['a'] }] }, /whole number/],
    [{ peers: [{ prefixes: ['10.0.0.0'] }] }, /peers\[0\]: prefixes: prefix "10.0.0.0" is not one/],
    [{ peers: [{ from: '10.0.0.0/33' }] }, /peers\[0\]: from: prefix/],
    [{ peers: [{ maxRoutes: -1 }] }, /peers\[0\]: maxRoutes: -1 is not a whole number/],
    [{ peers: [{ name: 5 }] }, /peers\[0\]: name: 5 is not a text/],
  ];
  for (const [json, message] of cases)
    test(JSON.stringify(json), () => assert.throws(() => RuleBook.parse(json), { name: 'RangeError', message }));
});
