import { isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import { badRequest } from '../../../api/status.ts';
import { fieldOf } from '../own-fields.ts';
import { itemElement } from './list-items.ts';
import { fieldElement, shownElements } from './path-element.ts';
import type { Shape } from './shape.ts';

const mostProblems = 20;

/**
 * Refuses a configuration in which something has no name to own it by: fields the schema does not declare, items of keyed lists
 * without their keys, items that occur twice. 400 with every problem.
 */
export function refuseUnownable(applied: JsonObject, shape: Shape): void {
  const problems = problemsIn(applied, shape);
  if (problems.length === 0) return;
  const metadata = fieldOf(applied, 'metadata');
  const [namespace, name] = ['namespace', 'name'].map((key) =>
    isJsonObject(metadata) ? fieldOf(metadata, key) : undefined,
  );
  const type = `${shown(fieldOf(applied, 'apiVersion'))}, Kind=${shown(fieldOf(applied, 'kind'))}`;
  const [only] = problems;
  throw badRequest(
    `failed to create typed patch object (${shown(namespace)}/${shown(name)}; ${type}): ${
      problems.length === 1 ? only : ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n')
    }`,
  );
}

/** Whether every part of an object can be owned. */
export const isOwnable = (object: JsonObject, shape: Shape): boolean => problemsIn(object, shape).length === 0;

function problemsIn(object: JsonObject, shape: Shape): string[] {
  const problems: string[] = [];
  check(object, shape, [], problems);
  return problems;
}

function check(value: Json, shape: Shape, path: string[], problems: string[]): void {
  if (Array.isArray(value)) checkList(value, shape, path, problems);
  else if (isJsonObject(value)) checkFields(value, shape, path, problems);
}

function checkFields(value: JsonObject, shape: Shape, path: string[], problems: string[]): void {
  for (const name of Object.keys(value)) {
    if (problems.length >= mostProblems) return;
    const field = shape.field(name);
    path.push(field?.element ?? fieldElement(name));
    if (field === undefined && shape.isClosed) problems.push(`${shownElements(path)}: field not declared in schema`);
    else check(value[name] ?? null, field?.shape ?? shape.others, path, problems);
    path.pop();
  }
}

function checkList(list: Json[], shape: Shape, path: string[], problems: string[]): void {
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    if (problems.length >= mostProblems) return;
    const element = shape.list === 'atomic' ? `i:${index}` : itemElement(item, shape);
    if (element === undefined) {
      problems.push(`${shownElements(path)}: element ${index}: ${whyUnnamed(item, shape)}`);
      continue;
    }
    path.push(element);
    if (seen.has(element)) problems.push(`${shownElements(path)}: occurs twice in a list whose items must differ`);
    else check(item, shape.item, path, problems);
    path.pop();
    seen.add(element);
  }
}

function whyUnnamed(item: Json, shape: Shape): string {
  if (shape.list === 'set') return 'items of this set must be plain values, neither null nor lists nor objects';
  if (!isJsonObject(item)) return 'items of this list must be objects';
  const missing = shape.keys.find((key) => key.default === undefined && !Object.hasOwn(item, key.name));
  return `the item omits ${JSON.stringify(missing?.name)}, which tells the items of this list apart`;
}

const shown = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
