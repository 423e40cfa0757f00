/**
 * Asks a kube-apiserver what the built-in kinds of the engine are tested by, and writes its answers down.
 *
 *   node tools/record-answers.ts https://HOST:PORT CA-FILE TOKEN
 *
 * The server must be an empty one of the version that is recorded, without the admission plugins ServiceAccount,
 * DefaultTolerationSeconds, Priority and TaintNodesByCondition, and must allow privileged containers.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { gzipSync } from 'node:zlib';
import { isJsonObject, type Json, type JsonObject } from '../src/api/json.ts';
import { type Answer, type Answers, addressOf, sentFor } from '../src/engine/builtin/answers.fixture.ts';
import { creations, rows, updates } from '../src/engine/builtin/requests/requests.fixture.ts';

const [server, caFile, token] = process.argv.slice(2);
if (server === undefined || caFile === undefined || token === undefined) {
  console.error('usage: node tools/record-answers.ts https://HOST:PORT CA-FILE TOKEN');
  process.exit(2);
}
const agent = new Agent({ keepAlive: true, ca: readFileSync(caFile) });

const answers: Answers = { creations: [], updates: [], rows: [] };
for (const object of creations) {
  answers.creations.push(answerIn(await call('POST', `${addressOf(object)}?dryRun=All`, object)));
}
const existing = new Map<JsonObject, JsonObject>();
for (const { before, change } of updates) {
  const address = `${addressOf(before)}/${nameOf(before)}`;
  let stored = existing.get(before);
  if (stored === undefined) {
    await call('POST', addressOf(before), before);
    // Definitions are not settled at once.
    await new Promise((resolve) => setTimeout(resolve, before['kind'] === 'CustomResourceDefinition' ? 2000 : 0));
    stored = bare((await call('GET', address)).body);
    existing.set(before, stored);
  }
  const reply = await call('PUT', `${address}?dryRun=All`, sentFor(before, stored, change));
  answers.updates.push({ before: stored, answer: answerIn(reply) });
}
for (const { object, status } of rows) {
  const address = `${addressOf(object)}/${nameOf(object)}`;
  await call('POST', addressOf(object), object);
  if (status !== undefined) await call('PATCH', `${address}/status`, { status }, 'application/merge-patch+json');
  if (isJsonObject(object['metadata']) && object['metadata']['finalizers'] !== undefined) await call('DELETE', address);
  const stored = bare((await call('GET', address)).body);
  const table = (await call('GET', address, undefined, '', 'application/json;as=Table;v=v1;g=meta.k8s.io')).body;
  const [row] = listAt(table, 'rows');
  answers.rows.push({
    object: stored,
    now: new Date().toISOString(),
    columns: listAt(table, 'columnDefinitions').map(({ name, type, format, priority }) =>
      [name, type, format, priority].join(' | '),
    ),
    cells: row === undefined || !Array.isArray(row['cells']) ? [] : row['cells'],
  });
}
const file = new URL('../src/engine/builtin/testdata/answers.json.gz', import.meta.url);
writeFileSync(file, gzipSync(JSON.stringify(answers), { level: 9 }));
console.log(`${answers.creations.length} creations, ${answers.updates.length} updates, ${answers.rows.length} rows`);
agent.destroy();

interface Reply {
  code: number;
  body: JsonObject;
}

function answerIn({ code, body }: Reply): Answer {
  if (code < 300) return { object: bare(body) };
  const details = body['details'];
  const causes = isJsonObject(details) ? listAt(details, 'causes') : [];
  if (code !== 422 || causes.length === 0) throw new Error(`${code}: ${JSON.stringify(body)}`);
  return { faults: causes.map(({ reason, field, message }) => [String(reason), String(field), String(message)]) };
}

function bare(object: JsonObject): JsonObject {
  const metadata = isJsonObject(object['metadata']) ? { ...object['metadata'] } : {};
  delete metadata['managedFields'];
  return withoutNulls({ ...object, metadata });
}

function withoutNulls(object: JsonObject): JsonObject {
  const clean = (value: Json): Json =>
    Array.isArray(value) ? value.map(clean) : isJsonObject(value) ? withoutNulls(value) : value;
  const kept = Object.entries(object).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([key, value]) => [key, clean(value)]));
}

function listAt(object: JsonObject, key: string): JsonObject[] {
  const list = object[key];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function nameOf(object: JsonObject): string {
  return isJsonObject(object['metadata']) ? String(object['metadata']['name']) : '';
}

function call(
  method: string,
  path: string,
  body?: JsonObject,
  contentType = 'application/json',
  accept = 'application/json',
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': contentType || 'application/json',
      Accept: accept,
    };
    const asked = request(new URL(path, server), { method, agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ code: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) }),
      );
    });
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
