import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../api/json.ts';
import type { JsonSchema } from '../../../api/json-schema.ts';
import { compiledRules } from './compile.ts';
import { evaluateRule } from './evaluate.ts';

const object = (properties: Record<string, JsonSchema>): JsonSchema => ({ type: 'object', properties });
const SELF = object({
  n: { type: 'integer' },
  x: { type: 'number' },
  s: { type: 'string' },
  b: { type: 'boolean' },
  at: { type: 'string', format: 'date-time' },
  day: { type: 'string', format: 'date' },
  every: { type: 'string', format: 'duration' },
  raw: { type: 'string', format: 'byte' },
  port: { 'x-kubernetes-int-or-string': true },
  maybe: { type: 'string', nullable: true },
  list: { type: 'array', items: { type: 'string' } },
  numbers: { type: 'array', items: { type: 'integer' } },
  map: { type: 'object', additionalProperties: { type: 'integer' } },
  items: { type: 'array', items: object({ name: { type: 'string' }, size: { type: 'integer' } }) },
  inner: object({ name: { type: 'string' } }),
  'a-b.c/d': { type: 'string' },
  namespace: { type: 'string' },
  a__b: { type: 'string' },
});
const VALUE: Json = {
  n: 5,
  x: 2,
  s: 'héllo',
  b: true,
  at: '2024-05-06T07:08:09Z',
  day: '2024-05-06',
  every: '90m',
  raw: 'aGk=',
  port: '10%',
  maybe: null,
  list: ['b', 'a', 'a'],
  numbers: [3, 1, 2],
  map: { k: 1, l: 2 },
  items: [
    { name: 'a', size: 1 },
    { name: 'b', size: 2 },
  ],
  inner: { name: 'a' },
  'a-b.c/d': 'escaped',
  namespace: 'ns',
  a__b: 'x',
};

/** What becomes of one rule: true, false, or why there is no answer. */
function answer(rule: string, value: Json = VALUE): unknown {
  const schema: JsonSchema = { ...SELF, 'x-kubernetes-validations': [{ rule }] };
  const { rules, read } = compiledRules(schema, false);
  const [compiled] = rules;
  assert.ok(compiled);
  if (compiled.fault !== undefined) return compiled.fault;
  const { outcome } = evaluateRule(compiled, { self: read(value), oldSelf: undefined });
  return outcome.kind === 'holds' ? true : outcome.kind === 'error' ? outcome.error : outcome.kind;
}

for (const [library, rules] of Object.entries({
  'fields have the types that the schema says': [
    'self.n == 5 && self.n + 1 == 6 && type(self.n) == int',
    'self.x == 2.0 && type(self.x) == double && self.x < 3',
    'self.s == "héllo" && size(self.s) == 5 && self.b',
    'self.at > timestamp("2024-01-01T00:00:00Z") && self.at.getFullYear() == 2024',
    'self.day == timestamp("2024-05-06T00:00:00Z")',
    'self.every == duration("1h30m") && self.every.getMinutes() == 90',
    'self.raw == b"hi" && string(self.raw) == "hi"',
    'type(self.port) == string && self.port == "10%"',
    'type(self.port) == int ? self.port < 5 : self.port.endsWith("%")',
    'self.maybe == null && has(self.maybe)',
    'self.list[0] == "b" && self.map["k"] == 1 && self.map.l == 2',
    'self.inner == self.inner && self.items[0] != self.items[1]',
    'self.a__dash__b__dot__c__slash__d == "escaped" && self.__namespace__ == "ns" && self.a__underscores__b == "x"',
  ],
  'macros go over lists and maps': [
    'self.list.all(x, x in ["a", "b"]) && self.list.exists(x, x == "b") && self.list.exists_one(x, x == "b")',
    'self.numbers.map(x, x * 2) == [6, 2, 4] && self.numbers.filter(x, x > 1) == [3, 2]',
    'self.items.map(i, i.size > 1, i.name) == ["b"]',
    'self.map.all(k, self.map[k] > 0) && "k" in self.map && !("z" in self.map)',
    'self.items.all(i, self.items.exists_one(j, j.name == i.name))',
  ],
  'macros may have two variables': [
    'self.numbers.all(i, v, v > i - 10) && self.map.all(k, v, v > 0 && k != "")',
    'self.numbers.exists(i, v, i == 1 && v == 1) && self.map.existsOne(k, v, v == 2) && self.map.exists_one(k, v, v == 1)',
    'self.numbers.transformList(i, v, v * i) == [0, 1, 4] && self.numbers.transformList(i, v, i > 0, v) == [1, 2]',
    'self.map.transformMap(k, v, v + 1) == {"k": 2, "l": 3} && self.map.transformMap(k, v, v > 1, k) == {"l": "l"}',
    'self.map.transformMapEntry(k, v, {k + "x": v}) == {"kx": 1, "lx": 2}',
    'self.items.all(i, a, self.items.all(j, b, i == j || a.name != b.name))',
    'self.numbers.transformList(i, v, [v].transformList(j, w, w + i)) == [[3], [2], [4]]',
  ],
  'has() looks at any expression': [
    'has(self.s) && has(self.items[0].name) && !has(self.items.filter(i, i.size > 9).map(i, self.inner)[?0].name)',
    'has(self.inner.name) && has(dyn({"a": 1}).a) && !has(dyn({"a": 1}).b) && has({"a": {"b": 1}}.a.b)',
  ],
  'optional values': [
    'self.?s.orValue("") == "héllo" && optional.none().or(optional.of(1)).value() == 1',
    'self.?inner.?name.optMap(n, n + "!").orValue("") == "a!" && !optional.none().optMap(x, x).hasValue()',
    'optional.of(1).optFlatMap(x, optional.of(x + 1)).value() == 2 && !optional.ofNonZeroValue("").hasValue()',
    'optional.of(self.n) == self.?n && optional.of(1) != optional.of(2) && optional.none() != optional.of(1)',
    'self.map[?"zz"].orValue(7) == 7 && self.list[?0].value() == "b"',
  ],
  strings: [
    '"hello".charAt(1) == "e" && "hello".indexOf("l") == 2 && "hello".lastIndexOf("l") == 3',
    '"a,b,c".split(",") == ["a", "b", "c"] && ["a", "b"].join("-") == "a-b" && "aXbXc".replace("X", "-") == "a-b-c"',
    '"aXbXc".replace("X", "-", 1) == "a-bXc" && "héllo".substring(1, 3) == "él" && " a ".trim() == "a"',
    '"AbC".lowerAscii() == "abc" && "abc".upperAscii() == "ABC" && strings.quote("a\\"\\n") == "\\"a\\\\\\"\\\\n\\""',
    '"%s has %d (%.2f) %x %e %b %o %%".format([dyn("a"), dyn(3), dyn(1.5), dyn(255), dyn(1200.0), dyn(5), dyn(8)]) == "a has 3 (1.50) ff 1.200000e+03 101 10 %"',
    '"%s %s %s %s".format([dyn([1, 2]), dyn({"b": dyn(1), "a": dyn("x")}), dyn(true), dyn(null)]) == "[1, 2] {a: x, b: 1} true null"',
    '"%X %x %x".format([dyn(255), dyn("hi"), dyn(b"hi")]) == "FF 6869 6869"',
  ],
  'regular expressions are RE2': [
    'self.s.matches("^h.llo$") && !self.s.matches("^ello") && matches("a\\n", "(?s)^a.$") && "X".matches(r"(?i)^x\\z")',
    '"abc 123 def 45".find("[0-9]+") == "123" && "a1b22".findAll("[0-9]+") == ["1", "22"] && "a1b22".findAll("[0-9]+", 1) == ["1"]',
    '"none".find("[0-9]") == "" && "".findAll("x") == []',
  ],
  lists: [
    '[1, 2, 2].isSorted() && !["b", "a"].isSorted() && [1, 2].sum() == 3 && [0.5, 1.0].sum() == 1.5',
    'self.numbers.min() == 1 && self.numbers.max() == 3 && self.list.indexOf("a") == 1 && self.list.lastIndexOf("a") == 2',
    'self.items.indexOf(self.items[1]) == 1 && [duration("1m"), duration("2m")].sum() == duration("3m")',
    'sets.contains(self.list, ["a"]) && sets.equivalent([1, 2], [2, 1, 1]) && sets.intersects([1], [1, 2]) && !sets.intersects([1], [2])',
    '[timestamp("2024-01-01T00:00:00Z"), self.at].isSorted() && [true, false].min() == false',
  ],
  'IP addresses': [
    'isIP("10.0.0.1") && isIP("::1") && !isIP("10.0.0.256") && !isIP("::ffff:1.2.3.4") && !isIP("fe80::1%eth0")',
    'ip("10.0.0.1").family() == 4 && ip("2001:db8::1").family() == 6 && ip("127.0.0.1").isLoopback() && ip("::").isUnspecified()',
    'ip("224.0.0.1").isLinkLocalMulticast() && ip("fe80::1").isLinkLocalUnicast() && ip("8.8.8.8").isGlobalUnicast() && !ip("255.255.255.255").isGlobalUnicast()',
    'ip.isCanonical("::1") && !ip.isCanonical("2001:DB8::1") && string(ip("2001:DB8::1")) == "2001:db8::1" && ip("::1") == ip("0::1")',
    '["10.0.0.1"].all(ip, isIP(ip) && ip(ip).family() == 4)',
  ],
  CIDRs: [
    'isCIDR("10.0.0.0/8") && isCIDR("10.0.0.1/8") && !isCIDR("10.0.0.0") && !isCIDR("10.0.0.0/33")',
    'cidr("192.168.0.0/24").containsIP("192.168.0.9") && !cidr("192.168.0.0/24").containsIP(ip("192.168.1.1"))',
    'cidr("192.168.0.0/16").containsCIDR("192.168.10.0/24") && !cidr("192.168.1.0/24").containsCIDR(cidr("192.168.0.0/16"))',
    'cidr("192.168.0.5/24").ip() == ip("192.168.0.5") && string(cidr("192.168.0.5/24").masked()) == "192.168.0.0/24" && cidr("::1/128").prefixLength() == 128',
    'cidr("10.0.0.1/8") != cidr("10.0.0.1/8").masked()',
  ],
  quantities: [
    'isQuantity("500Mi") && !isQuantity("5 apples") && quantity("1k") == quantity("1000") && quantity("50k").add(quantity("20k")) == quantity("70k")',
    'quantity("50k").sub(20000) == quantity("30k") && quantity("150Mi").isGreaterThan(quantity("100Mi")) && quantity("50M").isLessThan(quantity("50Mi"))',
    'quantity("200M").compareTo(quantity("0.2G")) == 0 && quantity("-1").sign() == -1 && quantity("2k").asInteger() == 2000 && !quantity("500m").isInteger()',
    'quantity("500m").asApproximateFloat() == 0.5',
  ],
  URLs: [
    'isURL("https://a.example:80/b?c=d") && !isURL("not a url") && url("https://[::1]:80/b").getHostname() == "::1"',
    'url("https://a:80/b c").getEscapedPath() == "/b%20c" && url("https://a:80/").getPort() == "80" && url("https://a:80/").getHost() == "a:80"',
    'url("/p?k=1&k=2&l=a%20b").getQuery() == {"k": ["1", "2"], "l": ["a b"]} && url("/p").getScheme() == ""',
  ],
  'named formats': [
    'format.dns1123Label().validate("a-b") == optional.none() && !format.dns1123Label().validate("a-b").hasValue()',
    'format.dns1123Label().validate("A").value().size() == 1 && format.named("uuid").hasValue() && !format.named("nope").hasValue()',
    '!format.dns1035LabelPrefix().validate("a-").hasValue() && format.date().validate("2024-13-01").value() == ["invalid date"]',
  ],
  conversions: [
    'string(self.at) == "2024-05-06T07:08:09Z" && string(duration("90s")) == "90s" && int(timestamp("1970-01-01T00:00:10Z")) == 10',
    'string(5) == "5" && int("7") == 7 && double("1.5") == 1.5 && string(1.5) == "1.5" && bool("true")',
  ],
  'errors do not count where another operand decides': [
    'true || 1 / 0 == 1',
    '!(false && 1 / 0 == 1)',
    '[0, 1].exists(x, 1 / x == 1) && [0, 1].exists(i, x, 1 / x == 1)',
  ],
})) {
  test(library, () => {
    for (const rule of rules) assert.equal(answer(rule), true, rule);
  });
}

for (const [rule, error] of [
  ['self.s == "a"', 'no such key: s'],
  ['self.list[3] == "a"', 'no such key: list'],
  ['[1][3] == 1', 'index out of bounds, index 3 >= size 1'],
  ['1 / (self.?n.orValue(0)) == 1', 'division by zero'],
  ['9223372036854775807 + 1 == 0', 'integer overflow: 9223372036854775808'],
  ['dyn(1) + dyn("a") == 2', 'no such overload: dyn<int> + dyn<string>'],
  ['[].max() == 1', 'max called on empty list'],
  ['ip("x").family() == 4', 'IP Address "x" parse error during conversion from string: it is not an IP address'],
  [
    'quantity("x").sign() == 1',
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  ['optional.none().value() == 1', 'Optional value is not present'],
] as const) {
  test(`${rule} has no answer`, () => assert.equal(answer(rule, {}), error));
}

for (const [rule, fault] of [
  ['self.nope == 1', "compilation failed: ERROR: <input>:1:6: undefined field 'nope'\n | self.nope == 1\n | .....^"],
  [
    'has(self.inner.nope)',
    "compilation failed: ERROR: <input>:1:16: undefined field 'nope'\n | has(self.inner.nope)\n | ...............^",
  ],
  ['nope', "compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope\n | ^"],
  ['self.n == "a"', 'compilation failed: ERROR: <input>:1:1: no such overload: int == string\n | self.n == "a"\n | ^'],
  [
    'true &&\nself.s > 3',
    'compilation failed: ERROR: <input>:2:1: no such overload: string > int\n | self.s > 3\n | ^',
  ],
  ['self.n', 'cel expression must evaluate to a bool'],
  [
    'self.n.matches("a")',
    'compilation failed: ERROR: <input>:1:1: found no matching overload for \'int.matches(string)\'\n | self.n.matches("a")\n | ^',
  ],
  [
    'self.s.matches("(")',
    'compilation failed: ERROR: invalid matches argument: error parsing regexp: missing closing ): `(`',
  ],
  ['duration("1 day") > duration("1s")', 'compilation failed: ERROR: invalid duration argument'],
  ['timestamp("today") == self.at', 'compilation failed: ERROR: invalid timestamp argument'],
  [
    'self.list.sum() == 1',
    "compilation failed: ERROR: <input>:1:1: found no matching overload for 'list.sum()'\n | self.list.sum() == 1\n | ^",
  ],
  [
    'self.numbers.all(1, true)',
    'compilation failed: ERROR: <input>:1:18: all(var, predicate) invalid predicate iteration variable\n | self.numbers.all(1, true)\n | .................^',
  ],
  ['has(self)', 'compilation failed: ERROR: <input>:1:1: invalid argument to has() macro\n | has(self)\n | ^'],
  ['self.n >', 'compilation failed: ERROR: <input>:1:9: unexpected token: EOF\n | self.n >\n | ........^'],
  [
    '[1, "a"] == []',
    "compilation failed: ERROR: <input>:1:5: list elements must have the same type, expected type 'int' but found 'string'\n | [1, \"a\"] == []\n | ....^",
  ],
] as const) {
  test(`${JSON.stringify(rule)} does not compile`, () => assert.equal(answer(rule), fault));
}

test('a rule of any size and depth is compiled or refused', () => {
  for (const rule of [
    '('.repeat(50_000),
    '!'.repeat(90_000),
    `${'['.repeat(200)}${']'.repeat(200)} == []`,
    'a.'.repeat(40_000),
    `1${' + 1'.repeat(20_000)} > 0`,
    'x'.repeat(200_000),
  ]) {
    assert.equal(typeof answer(rule), 'string');
  }
});

test('a rule on a value of unknown type is refused', () => {
  const schema: JsonSchema = {
    'x-kubernetes-preserve-unknown-fields': true,
    'x-kubernetes-validations': [{ rule: 'true' }],
  };
  assert.match(compiledRules(schema, false).rules[0]?.fault ?? '', /the schema does not say enough/);
});

const bomb = (rule: string): { answer: unknown; milliseconds: number } => {
  const value: Json = {
    numbers: Array.from({ length: 5000 }, (_, i) => i),
    list: Array.from({ length: 5000 }, (_, i) => `item ${i}`),
    items: Array.from({ length: 5000 }, (_, i) => ({ name: `${i}`, size: i })),
    s: 'a'.repeat(100_000),
  };
  const start = performance.now();
  return { answer: answer(rule, value), milliseconds: performance.now() - start };
};
for (const rule of [
  'self.numbers.all(a, self.numbers.all(b, self.numbers.all(c, a + b + c >= 0)))',
  'self.numbers.all(i, a, self.numbers.all(j, b, a + b >= 0))',
  'self.items.all(i, self.items == self.items)',
  'self.numbers.all(n, n in self.numbers || true)',
  'self.numbers.all(n, self.s.contains("b") || self.s + self.s != "")',
  'self.numbers.all(n, sets.equivalent(self.list, self.list))',
  'self.numbers.all(n, self.s.matches("(a+)+b") || true)',
  'self.numbers.all(n, self.list.join("").size() > 0 && self.list.isSorted() || true)',
  'self.numbers.map(a, self.numbers.map(b, self.numbers.map(c, c))).size() > 0',
]) {
  test(`the work of ${rule} is bounded`, () => {
    const { answer: outcome, milliseconds } = bomb(rule);
    assert.equal(outcome, 'exhausted');
    assert.ok(milliseconds < 5000, `${milliseconds} ms`);
  });
}

test('an ordinary rule over thousands of items is well within bounds', () => {
  const { answer: outcome } = bomb(
    'self.items.all(i, i.name.size() > 0 && i.size >= 0 && i.size < 10000 && i.name.matches("^[0-9]+$"))',
  );
  assert.equal(outcome, true);
});
