import { equalJson, isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import { fieldOf, setField } from '../own-fields.ts';
import { itemElement, itemsOf } from './list-items.ts';
import type { Shape } from './shape.ts';

/**
 * An applied configuration laid over the live object: nothing is removed, applied values win, keyed lists and sets merge by
 * item. Comes back as `live` itself where it changes nothing.
 */
export function mergeApplied(live: JsonObject, applied: JsonObject, shape: Shape): JsonObject {
  return mergeFields(live, applied, shape);
}

function mergeValue(live: Json | undefined, applied: Json, shape: Shape): Json {
  if (live === undefined || live === applied) return applied;
  if (isJsonObject(live) && !shape.isAtomicObject && Object.keys(live).length > 0) {
    if (isJsonObject(applied)) return mergeFields(live, applied, shape);
    // Applied null names the field and nothing in it.
    if (applied === null) return live;
  }
  if (Array.isArray(live) && live.length > 0) {
    if (Array.isArray(applied)) return mergeItems(live, applied, shape);
    if (applied === null && shape.list !== 'atomic') return live;
  }
  return equalJson(live, applied) ? live : applied;
}

function mergeFields(live: JsonObject, applied: JsonObject, shape: Shape): JsonObject {
  let result: JsonObject | undefined;
  for (const name of Object.keys(applied)) {
    const before = fieldOf(live, name);
    const value = mergeValue(before, applied[name] ?? null, shape.field(name)?.shape ?? shape.others);
    if (value === before) continue;
    result ??= { ...live };
    setField(result, name, value);
  }
  return result ?? live;
}

/**
 * Applied items keep the order they are applied in. A live item that is not applied stays behind the live neighbours it had,
 * as far as the two orders agree.
 */
function mergeItems(live: Json[], applied: Json[], shape: Shape): Json[] {
  const old = itemsOf(live, shape);
  const wanted = itemsOf(applied, shape);
  if (old === undefined || wanted === undefined) return equalJson(live, applied) ? live : applied;
  const elements = elementsOf(live, old.first, shape);
  const shared = [...wanted.first.keys()].filter((element) => old.first.has(element));
  const result: Json[] = [];
  let place = 0;
  let awaited = 0;
  /** Takes live items up to the applied one that comes next. */
  const takeLive = () => {
    for (; place < live.length; place++) {
      const element = elements[place];
      const item = live[place];
      if (element === undefined || item === undefined) continue;
      if (!wanted.first.has(element)) result.push(item);
      else if (element === shared[awaited]) return;
    }
  };
  for (const [element, item] of wanted.first) {
    takeLive();
    // Items that share one name are replaced by the one applied, not merged with it.
    const before = old.repeated.has(element) ? undefined : old.first.get(element);
    result.push(mergeValue(before, item, shape.item));
    if (element === shared[awaited]) {
      awaited++;
      if (elements[place] === element) place++;
    }
  }
  takeLive();
  const isSame = result.length === live.length && result.every((item, index) => item === live[index]);
  return isSame ? live : result;
}

/** The element of every item, in order. */
function elementsOf(list: readonly Json[], first: ReadonlyMap<string, Json>, shape: Shape): string[] {
  if (first.size === list.length) return [...first.keys()];
  return list.map((item) => itemElement(item, shape) ?? '');
}
