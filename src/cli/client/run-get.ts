import { stringify } from 'yaml';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import { collectionPath, objectPath, query } from '../../runtime/paths.ts';
import { refusal } from '../../runtime/refusal.ts';
import type { Terminal } from '../command.ts';
import { UsageError } from '../command.ts';
import { type Api, type ConnectionOptions, connect } from './connection.ts';
import { objectName, type ServedKind, ServedKinds } from './resources.ts';
import { columnsOf, type Row, rowsOf, TablePrinter } from './table-printer.ts';

export interface GetOptions extends ConnectionOptions {
  readonly 'all-namespaces': boolean;
  readonly selector: string | undefined;
  readonly output: 'wide' | 'yaml' | 'json' | 'name' | undefined;
  readonly watch: boolean;
}

export interface Wanted {
  readonly resource: string;
  readonly names: readonly string[];
}

const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

export async function getObjects(wanted: Wanted, options: GetOptions, terminal: Terminal): Promise<number> {
  const api = await connect(options);
  const kinds = await ServedKinds.discover(api.transport);
  const requests = requestsOf(wanted, kinds);
  const [only, ...others] = requests;
  if (options.watch && (only === undefined || others.length > 0))
    throw new UsageError('--watch follows one kind at a time');
  let failures = 0;
  let found = 0;
  for (const request of requests) {
    const result = await show(api, request, options, terminal, requests.length > 1);
    failures += result.failures;
    found += result.found;
  }
  if (found === 0 && failures === 0 && options.output === undefined && !options.watch) {
    terminal.warn(
      options['all-namespaces'] ? 'No resources found.' : `No resources found in namespace ${api.namespace}.`,
    );
  }
  return failures === 0 ? 0 : 1;
}

interface Request {
  readonly kind: ServedKind;
  readonly names: readonly string[];
}

function requestsOf({ resource, names }: Wanted, kinds: ServedKinds): Request[] {
  if (resource.includes('/')) {
    return [resource, ...names].map((each) => {
      const [kind = '', name = ''] = each.split('/');
      if (name === '') throw new UsageError(`"${each}" must be KIND/NAME, as the others are`);
      return { kind: kinds.named(kind), names: [name] };
    });
  }
  return resource.split(',').flatMap((word) => {
    const inCategory = kinds.inCategory(word.toLowerCase());
    return (inCategory.length > 0 ? inCategory : [kinds.named(word)]).map((kind) => ({ kind, names }));
  });
}

async function show(
  api: Api,
  { kind, names }: Request,
  options: GetOptions,
  terminal: Terminal,
  isOneOfMany: boolean,
): Promise<{ failures: number; found: number }> {
  const { output } = options;
  const paths = pathsOf(api, kind, names, options);
  const answers: JsonObject[] = [];
  let failures = 0;
  for (const path of paths) {
    const answer = await api.transport.request({
      method: 'GET',
      path,
      ...(isData(output) ? {} : { accept: AS_TABLE }),
    });
    if (answer.status < 400) answers.push(answer.body);
    else {
      failures += 1;
      terminal.warn(refusal(answer.status, answer.body).message);
    }
  }
  if (isData(output)) {
    const objects = answers.flatMap(itemsOf);
    for (const object of objects) delete metadataOf(object)['managedFields'];
    printData(objects, { kind, output, isList: names.length !== 1 }, terminal);
    return { failures, found: objects.length };
  }
  const printer = new TablePrinter({
    isWide: output === 'wide',
    withNamespace: kind.namespaced && options['all-namespaces'],
    prefix: isOneOfMany
      ? `${kind.singular === '' ? kind.plural : kind.singular}${kind.group === '' ? '' : `.${kind.group}`}/`
      : '',
    print: (line) => terminal.print(line),
  });
  const rows = answers.flatMap(rowsOf);
  if (rows.length > 0) {
    printer.print(answers.flatMap(columnsOf), rows);
    if (isOneOfMany) terminal.print('');
  }
  if (options.watch) await follow(api, { kind, names }, options, answers, printer);
  return { failures, found: rows.length };
}

const isData = (output: GetOptions['output']): output is 'yaml' | 'json' | 'name' =>
  output !== undefined && output !== 'wide';

function pathsOf(api: Api, kind: ServedKind, names: readonly string[], options: GetOptions): string[] {
  const namespace = kind.namespaced && !options['all-namespaces'] ? api.namespace : '';
  if (names.length > 0)
    return names.map((name) => objectPath(kind, { namespace: kind.namespaced ? api.namespace : '', name }));
  return [collectionPath(kind, namespace) + query({ labelSelector: options.selector })];
}

/** Shows every change from what was listed on; when the server ends a watch, the next one begins where it ended. */
async function follow(
  api: Api,
  { kind, names }: Request,
  options: GetOptions,
  answers: readonly JsonObject[],
  printer: TablePrinter,
): Promise<void> {
  const namespace = kind.namespaced && !options['all-namespaces'] ? api.namespace : '';
  let version = String(metadataOf(answers[0] ?? {})['resourceVersion'] ?? '');
  for (;;) {
    const parameters = query({
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: version,
      labelSelector: options.selector,
      fieldSelector: names.length === 1 ? `metadata.name=${names[0]}` : undefined,
    });
    const path = collectionPath(kind, namespace) + parameters;
    for await (const { type, object } of api.transport.stream({ method: 'GET', path, accept: AS_TABLE })) {
      if (!isJsonObject(object)) continue;
      if (type === 'ERROR') {
        const status = refusal(Number(object['code']), object);
        if (status.code !== 410) throw status;
        version = '';
        break;
      }
      version = String(metadataOf(object)['resourceVersion'] ?? version);
      const rows = rowsOf(object).filter((row) => names.length === 0 || names.includes(row.name));
      if (type !== 'BOOKMARK' && rows.length > 0)
        printer.print(
          columnsOf(object),
          rows.map((row) => marked(row, type)),
        );
    }
  }
}

/** A deleted object looks like any other: its row says that it is gone. */
const marked = (row: Row, type: Json | undefined): Row => {
  const [name, ...cells] = row.cells;
  return type === 'DELETED' ? { ...row, cells: [`${name} (deleted)`, ...cells] } : row;
};

function itemsOf(answer: JsonObject): JsonObject[] {
  const { items, kind, apiVersion } = answer;
  if (!Array.isArray(items)) return [answer];
  const itemKind = String(kind).replace(/List$/, '');
  return items.filter(isJsonObject).map((item) => ({ apiVersion: apiVersion ?? '', kind: itemKind, ...item }));
}

function printData(
  objects: readonly JsonObject[],
  { kind, output, isList }: { kind: ServedKind; output: 'yaml' | 'json' | 'name'; isList: boolean },
  terminal: Terminal,
): void {
  if (output === 'name') {
    for (const object of objects) terminal.print(objectName(kind, String(metadataOf(object)['name'])));
    return;
  }
  const [only] = objects;
  const value = isList ? { apiVersion: 'v1', kind: 'List', items: objects } : only;
  if (value === undefined) return;
  terminal.print(
    output === 'json' ? JSON.stringify(value, null, 2) : stringify(value, { aliasDuplicateObjects: false }).trimEnd(),
  );
}
