import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { ApiError } from '../../api/status.ts';
import { builtinKinds } from './kinds.ts';
import { decodeProtobufObject } from './protobuf.ts';
import { publishedMessages } from './published.ts';

interface Fixture {
  name: string;
  protobuf: string;
  json: JsonObject;
}

/** Bodies made by Go's own serializers, see testdata/README.md. */
const fixtures: Fixture[] = JSON.parse(
  gunzipSync(readFileSync(new URL('./testdata/protobuf-objects.json.gz', import.meta.url))).toString(),
);
const bodyOf = ({ protobuf }: Fixture): Buffer => Buffer.from(protobuf, 'base64');
const fixture = (name: string): Fixture =>
  fixtures.find((each) => each.name === name) ?? assert.fail(`no fixture ${name}`);

/** Go writes the zero time and lists that are nil as null, which is as good as absent. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNulls(item)]));
}

describe('what Go has written', () => {
  for (const each of fixtures) {
    it(`reads a ${each.name} object as Go's JSON shows it`, () => {
      assert.deepEqual(withoutNulls(decodeProtobufObject(bodyOf(each))), withoutNulls(each.json));
    });
  }

  it('is there for every built-in kind', () => {
    const covered = new Set(fixtures.map(({ json }) => `${json['apiVersion']} ${json['kind']}`));
    for (const { group, version, kind } of builtinKinds) {
      assert.ok(covered.has(`${group === '' ? '' : `${group}/`}${version} ${kind}`), `${group}/${version} ${kind}`);
    }
  });

  it('holds every field that the tables know of a container', () => {
    const containers = JSON.stringify(fixture('v1 Pod, full').json['spec']);
    for (const [name] of Object.values(publishedMessages().messages['core.v1.Container'] ?? {})) {
      assert.ok(containers.includes(`"${name}":`), name);
    }
  });
});

/** Bytes of a message: pairs of field number and content. */
const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const block = (field: number, content: Buffer | string): Buffer => {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(bytes.length)]), bytes]);
};
const number = (field: number, value: number): Buffer => Buffer.from([...varint(field * 8), ...varint(value)]);
const envelope = (apiVersion: string, kind: string, ...fields: Buffer[]): Buffer =>
  Buffer.concat([
    Buffer.from('k8s\0'),
    block(1, Buffer.concat([block(1, apiVersion), block(2, kind)])),
    block(2, Buffer.concat(fields)),
  ]);
const refusal = (pattern: RegExp) => (error: unknown) =>
  error instanceof ApiError && error.code === 400 && pattern.test(error.message);

describe('a message', () => {
  it('passes over fields that nobody knows, of every wire type', () => {
    const unknown = [
      number(900, 7),
      block(901, 'x'),
      Buffer.from([...varint(902 * 8 + 1), ...Array(8).fill(1)]),
      Buffer.from([...varint(903 * 8 + 5), 1, 2, 3, 4]),
    ];
    const body = envelope('v1', 'ConfigMap', ...unknown, number(4, 1), ...unknown);
    assert.deepEqual(decodeProtobufObject(body), { kind: 'ConfigMap', apiVersion: 'v1', immutable: true });
  });

  it('is the sum of its parts when it comes in several', () => {
    const body = envelope('v1', 'ConfigMap', block(1, block(1, 'a')), block(1, block(3, 'n')));
    assert.deepEqual(decodeProtobufObject(body)['metadata'], { name: 'a', namespace: 'n' });
  });

  it('has the last of several values of one field', () => {
    const body = envelope('v1', 'Secret', block(3, 'a'), block(3, 'b'));
    assert.equal(decodeProtobufObject(body)['type'], 'b');
  });

  it('takes numbers one by one and packed', () => {
    const context = (...fields: Buffer[]) => envelope('v1', 'Pod', block(2, block(14, Buffer.concat(fields))));
    const groups = (body: Buffer) => JSON.stringify(decodeProtobufObject(body)['spec']);
    assert.equal(groups(context(number(4, 7), number(4, 300))), groups(context(block(4, Buffer.from([7, 0xac, 2])))));
    assert.match(groups(context(number(4, 7), number(4, 300))), /"supplementalGroups":\[7,300\]/);
  });

  it('keeps a map key that is called __proto__ as a key', () => {
    const entry = Buffer.concat([block(1, '__proto__'), block(2, 'x')]);
    const data = decodeProtobufObject(envelope('v1', 'ConfigMap', block(2, entry)))['data'];
    assert.deepEqual(Object.entries(data ?? {}), [['__proto__', 'x']]);
  });

  it('reads map entries whose value is left out as empty', () => {
    const data = decodeProtobufObject(envelope('v1', 'ConfigMap', block(2, block(1, 'k'))))['data'];
    assert.deepEqual(data, { k: '' });
  });

  it('reads DeleteOptions of whatever group they say they are for', () => {
    const body = envelope('example.com/v7', 'DeleteOptions', number(1, 0));
    assert.deepEqual(decodeProtobufObject(body), {
      kind: 'DeleteOptions',
      apiVersion: 'example.com/v7',
      gracePeriodSeconds: 0,
    });
  });
});

describe('a refusal', () => {
  it('says that the body is no Kubernetes protobuf', () => {
    assert.throws(() => decodeProtobufObject(Buffer.from('{}')), refusal(/6b 38 73 00/));
    assert.throws(() => decodeProtobufObject(Buffer.alloc(0)), refusal(/6b 38 73 00/));
  });

  it('names the kind that cannot be sent as protobuf', () => {
    assert.throws(
      () => decodeProtobufObject(envelope('v1', 'constructor')),
      refusal(/no kind "constructor" of version "v1"/),
    );
    assert.throws(() => decodeProtobufObject(Buffer.from('k8s\0')), refusal(/does not say of which kind/));
  });

  it('names the message that is cut off', () => {
    const body = envelope('v1', 'ConfigMap', block(1, Buffer.from([...varint(10), 100, 1])));
    assert.throws(() => decodeProtobufObject(body), refusal(/cut off: meta.v1.ObjectMeta/));
  });

  it('names the field that is written in another way than it should be', () => {
    assert.throws(
      () => decodeProtobufObject(envelope('v1', 'ConfigMap', number(1, 3))),
      refusal(/writes core.v1.ConfigMap.metadata as varint/),
    );
  });

  it('is the answer to a length of 2^63', () => {
    const huge = Buffer.from([0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]);
    assert.throws(() => decodeProtobufObject(envelope('v1', 'ConfigMap', huge)), refusal(/cut off/));
  });

  it('is the answer to schemas nested without end', () => {
    let schema = block(5, 'object');
    for (let depth = 0; depth < 1000; depth++) schema = block(28, schema);
    const version = block(4, block(1, schema));
    const body = envelope('apiextensions.k8s.io/v1', 'CustomResourceDefinition', block(2, block(7, version)));
    assert.throws(() => decodeProtobufObject(body), refusal(/400 levels/));
  });

  it('is the answer to a number that JSON cannot hold', () => {
    const infinity = Buffer.concat([Buffer.from(varint(9 * 8 + 1)), Buffer.from([0, 0, 0, 0, 0, 0, 0xf0, 0x7f])]);
    const version = block(4, block(1, infinity));
    const body = envelope('apiextensions.k8s.io/v1', 'CustomResourceDefinition', block(2, block(7, version)));
    assert.throws(() => decodeProtobufObject(body), refusal(/too large for a 64-bit float/));
  });

  it('is the answer to a quantity that is none', () => {
    const entry = Buffer.concat([block(1, 'cpu'), block(2, block(1, 'lots'))]);
    const body = envelope('v1', 'Node', block(3, block(1, entry)));
    assert.throws(() => decodeProtobufObject(body), refusal(/"lots": quantities must match/));
  });

  it('is the only thing that happens to bytes that were tampered with', () => {
    const bodies = fixtures.map(bodyOf);
    fc.assert(
      fc.property(
        fc.constantFrom(...bodies),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 8 }),
        fc.nat(),
        (body, changes, cut) => {
          const hostile = Buffer.from(body.subarray(0, body.length - (cut % 3 === 0 ? cut % body.length : 0)));
          for (const [at, byte] of changes) if (hostile.length > 0) hostile[at % hostile.length] = byte;
          try {
            decodeProtobufObject(hostile);
          } catch (error) {
            assert.ok(error instanceof ApiError && error.code === 400, String(error));
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
