import { isJsonObject, type Json } from '../../api/json.ts';
import { parseJsonPath, type Step } from './jsonpath-grammar.ts';

/**
 * Compiles the JSONPath of a printer column or selectable field, as kubectl writes it: `.spec.x`, `.items[0]`, `[-1:]`,
 * `['a.b']`, `[*]`, `..name`, `.conditions[?(@.type=="Ready")].status`. The function finds all that the path leads to; nothing
 * there is no results. An error is a sentence about the path.
 */
export function compileJsonPath(text: string): (value: Json) => Json[] {
  const steps = parseJsonPath(text);
  return (value) => new Search().walk([value], steps);
}

/** A path with several `..` or filters visits the same values over and over; no column is worth more visits than these. */
const MOST_VISITS = 100_000;

class Search {
  #visits = 0;

  walk(from: readonly Json[], steps: readonly Step[]): Json[] {
    let values: readonly Json[] = from;
    for (const step of steps) values = [...this.#follow(values, step)];
    return [...values];
  }

  *#follow(values: readonly Json[], step: Step): Iterable<Json> {
    for (const value of values) {
      for (const found of this.#step(value, step)) {
        if (++this.#visits > MOST_VISITS) return;
        yield found;
      }
    }
  }

  *#step(value: Json, step: Step): Iterable<Json> {
    switch (step.type) {
      case 'field':
        if (isJsonObject(value) && Object.hasOwn(value, step.name)) yield value[step.name] ?? null;
        break;
      case 'all':
        yield* childrenOf(value);
        break;
      case 'slice':
        if (Array.isArray(value)) yield* sliced(value, step);
        break;
      case 'union':
        for (const steps of step.branches) yield* this.walk([value], steps);
        break;
      case 'descent':
        yield* withInside(value);
        break;
      case 'filter':
        if (!Array.isArray(value)) break;
        for (const item of value) {
          if (++this.#visits > MOST_VISITS) return;
          if (step.keeps(item, (from, steps) => this.walk(from, steps))) yield item;
        }
        break;
    }
  }
}

const childrenOf = (value: Json): Json[] => (typeof value === 'object' && value !== null ? Object.values(value) : []);

/** The value and everything inside it that has something inside. */
function* withInside(value: Json): Iterable<Json> {
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const children = childrenOf(next);
    if (children.length === 0) continue;
    yield next;
    for (const child of children.reverse()) if (typeof child === 'object') open.push(child);
  }
}

function sliced(list: readonly Json[], { start, end, step }: Step & { type: 'slice' }): Json[] {
  const from = start === undefined ? 0 : start < 0 ? start + list.length : start;
  const to = end === 'one' ? from + 1 : end === undefined ? list.length : end < 0 ? end + list.length : end;
  // Out of bounds is nothing, not as much as there is.
  if (from < 0 || from >= list.length || to > list.length || to < from) return [];
  return step === 1 ? list.slice(from, to) : list.slice(from, to).filter((_, i) => i % step === 0);
}
