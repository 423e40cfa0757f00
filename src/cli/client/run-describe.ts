import { stringify } from 'yaml';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import { collectionPath, objectPath, query } from '../../runtime/paths.ts';
import { refusal } from '../../runtime/refusal.ts';
import type { Terminal } from '../command.ts';
import { type Api, type ConnectionOptions, connect } from './connection.ts';
import { type ServedKind, ServedKinds } from './resources.ts';

export async function describeObjects(
  wanted: { resource: string; names: readonly string[] },
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<number> {
  const api = await connect(options);
  const kinds = await ServedKinds.discover(api.transport);
  const [word = '', name] = wanted.resource.split('/');
  const kind = kinds.named(word);
  const names = name === undefined ? wanted.names : [name, ...wanted.names];
  const namespace = kind.namespaced ? api.namespace : '';
  const paths =
    names.length > 0
      ? names.map((each) => objectPath(kind, { namespace, name: each }))
      : [collectionPath(kind, namespace)];
  let failures = 0;
  let isFirst = true;
  for (const path of paths) {
    const { status, body } = await api.transport.request({ method: 'GET', path });
    if (status >= 400) {
      failures += 1;
      terminal.warn(refusal(status, body).message);
      continue;
    }
    const objects = Array.isArray(body['items']) ? body['items'].filter(isJsonObject) : [body];
    for (const object of objects) {
      if (!isFirst) terminal.print('');
      isFirst = false;
      terminal.print(description(kind, object, await eventsAbout(api, kind, object)));
    }
  }
  return failures === 0 ? 0 : 1;
}

/** Events live in the namespace of what they are about; those about cluster-scoped objects in `default`. */
async function eventsAbout({ transport }: Api, kind: ServedKind, object: JsonObject): Promise<JsonObject[]> {
  const { uid, namespace } = metadataOf(object);
  const events = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };
  const path = collectionPath(events, kind.namespaced ? String(namespace) : 'default');
  const { status, body } = await transport.request({
    method: 'GET',
    path: path + query({ fieldSelector: `involvedObject.uid=${String(uid)}` }),
  });
  return status < 400 && Array.isArray(body['items']) ? body['items'].filter(isJsonObject) : [];
}

function description(kind: ServedKind, object: JsonObject, events: readonly JsonObject[]): string {
  const metadata = metadataOf(object);
  const { apiVersion: _, kind: __, metadata: ___, status, ...content } = object;
  const { conditions, ...state } = isJsonObject(status) ? status : {};
  const lines = [
    field('Name', metadata['name']),
    ...(kind.namespaced ? [field('Namespace', metadata['namespace'])] : []),
    field('Kind', `${kind.kind} (${kind.group === '' ? kind.version : `${kind.group}/${kind.version}`})`),
    field('Created', metadata['creationTimestamp']),
    ...(metadata['deletionTimestamp'] === undefined ? [] : [field('Deleting since', metadata['deletionTimestamp'])]),
    ...pairs('Labels', metadata['labels']),
    ...pairs('Annotations', metadata['annotations']),
    ...(Array.isArray(metadata['finalizers']) ? [field('Held by', metadata['finalizers'].join(', '))] : []),
    ...Object.entries(content).flatMap(([name, value]) => section(name, value)),
    ...section('status', Object.keys(state).length > 0 ? state : undefined),
    ...(Array.isArray(conditions) ? ['Conditions:', ...conditions.filter(isJsonObject).map(conditionLine)] : []),
    'Events:',
    ...(events.length === 0 ? ['  none in the last hour'] : events.map(eventLine)),
  ];
  return lines.join('\n');
}

const field = (name: string, value: Json | undefined): string => `${`${name}:`.padEnd(16)}${String(value ?? '')}`;

const pairs = (name: string, value: Json | undefined): string[] =>
  isJsonObject(value)
    ? Object.entries(value)
        .filter(([key]) => key !== 'kubectl.kubernetes.io/last-applied-configuration')
        .map(([key, text], i) => `${(i === 0 ? `${name}:` : '').padEnd(16)}${key}=${String(text)}`)
    : [];

function section(name: string, value: Json | undefined): string[] {
  if (value === undefined) return [];
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}:`;
  return [
    title,
    ...stringify(value)
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`),
  ];
}

const conditionLine = ({ type, status, reason, message }: JsonObject): string =>
  `  ${String(type).padEnd(20)} ${String(status).padEnd(8)} ${String(reason ?? '')}${message ? `: ${String(message)}` : ''}`;

function eventLine({ type, reason, message, count, lastTimestamp, eventTime }: JsonObject): string {
  const times = typeof count === 'number' && count > 1 ? ` (${count} times)` : '';
  return `  ${String(lastTimestamp ?? eventTime ?? '')}  ${String(type)}  ${String(reason)}: ${String(message)}${times}`;
}
