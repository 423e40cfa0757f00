import { equalJson, isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { refuseTooDeep } from './depth.ts';
import { fieldOf, setField } from './own-fields.ts';

/**
 * RFC 7386: null deletes, objects merge, everything else replaces. The document is left as it was, and comes back itself when
 * the patch changes nothing.
 */
export function mergePatch(document: Json, patch: Json): Json {
  refuseTooDeep(patch, 'the merge patch');
  return merged(document, patch);
}

function merged(before: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return before !== undefined && equalJson(before, patch) ? before : patch;
  const original = isJsonObject(before) ? before : undefined;
  let result: JsonObject | undefined;
  for (const key of Object.keys(patch)) {
    const wanted = patch[key] ?? null;
    const had = original === undefined ? undefined : fieldOf(original, key);
    if (wanted === null) {
      if (had === undefined) continue;
      result ??= { ...original };
      delete result[key];
      continue;
    }
    const value = merged(had, wanted);
    if (value === had) continue;
    result ??= { ...original };
    setField(result, key, value);
  }
  return result ?? original ?? {};
}
