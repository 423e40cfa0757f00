import { isJsonObject, type Json } from '../../api/json.ts';
import { parseJsonPath, type Step } from './jsonpath-grammar.ts';

/**
 * Compiles the JSONPath of a printer column or selectable field, as kubectl writes it: `.spec.x`, `.items[0]`, `[-1:]`,
 * `['a.b']`, `[*]`, `..name`, `.conditions[?(@.type=="Ready")].status`. The function finds all that the path leads to; nothing
 * there is no results. An error is a sentence about the path.
 */
export function compileJsonPath(text: string): (value: Json) => Json[] {
  const steps = parseJsonPath(text);
  return (value) => walk([value], steps);
}

function walk(from: readonly Json[], steps: readonly Step[]): Json[] {
  let values: Json[] = [...from];
  for (const step of steps) {
    values = follow(values, step);
    if (values.length === 0) break;
  }
  return values;
}

function follow(values: readonly Json[], step: Step): Json[] {
  const found: Json[] = [];
  const add = (value: Json | undefined): void => {
    if (value !== undefined && found.length < MOST_RESULTS) found.push(value);
  };
  for (const value of values) {
    switch (step.type) {
      case 'field':
        if (isJsonObject(value) && Object.hasOwn(value, step.name)) add(value[step.name]);
        break;
      case 'all':
        for (const child of childrenOf(value)) add(child);
        break;
      case 'slice':
        if (Array.isArray(value)) for (const item of sliced(value, step)) add(item);
        break;
      case 'union':
        for (const steps of step.branches) for (const result of walk([value], steps)) add(result);
        break;
      case 'descent':
        addInner(value, add);
        break;
      case 'filter':
        if (Array.isArray(value)) for (const item of value) if (step.keeps(item, walk)) add(item);
        break;
    }
  }
  return found;
}

/** A path with several `..` multiplies what it finds; nobody reads that many results. */
const MOST_RESULTS = 10_000;

const childrenOf = (value: Json): Json[] => (typeof value === 'object' && value !== null ? Object.values(value) : []);

/** The value and everything inside it that has something inside. */
function addInner(value: Json, add: (value: Json) => void): void {
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const children = childrenOf(next);
    if (children.length === 0) continue;
    add(next);
    for (let i = children.length - 1; i >= 0; i--) open.push(children[i] ?? null);
  }
}

function sliced(list: readonly Json[], { start, end, step }: Step & { type: 'slice' }): Json[] {
  const from = start === undefined ? 0 : start < 0 ? start + list.length : start;
  const isSingle = end === 'one';
  const to = isSingle ? from + 1 : end === undefined ? list.length : end < 0 ? end + list.length : end;
  // Out of bounds is nothing, not as much as there is.
  if (from < 0 || from >= list.length || to > list.length || to < from) return [];
  return step === 1 ? list.slice(from, to) : list.slice(from, to).filter((_, i) => i % step === 0);
}
