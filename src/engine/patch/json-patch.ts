import { equalJson, isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { ApiError, badRequest, tooLarge } from '../../api/status.ts';
import { MAX_DEPTH } from '../schema/depth.ts';
import { isTooDeep, refuseTooDeep } from './depth.ts';
import { parsePointer, shownPointer } from './json-pointer.ts';
import { fieldOf } from './own-fields.ts';
import { CannotApply, WorkingCopy } from './working-copy.ts';

const mostOperations = 10_000;

/**
 * RFC 6902. The document is left as it was; what did not change is shared with the result. A patch that is not one is 400, an
 * operation that does not fit the document is 422 and says which and why; then nothing is applied.
 */
export function jsonPatch(document: Json, operations: Json): Json {
  if (!Array.isArray(operations)) throw badRequest('a JSON patch is an array of operations');
  if (operations.length > mostOperations) {
    throw tooLarge(`a JSON patch holds at most ${mostOperations} operations, this one has ${operations.length}`);
  }
  refuseTooDeep(operations, 'the JSON patch');
  const parsed = operations.map(parseOperation);
  const copy = new WorkingCopy(document);
  for (const [index, operation] of parsed.entries()) {
    try {
      apply(copy, operation);
    } catch (error) {
      throw error instanceof CannotApply ? doesNotFit(operation, index, error.message) : error;
    }
  }
  if (isTooDeep(copy.document)) {
    throw invalidPatch(`the patched object would nest deeper than ${MAX_DEPTH} levels`);
  }
  return copy.document;
}

interface Place {
  text: string;
  tokens: string[];
}

type Operation =
  | { op: 'add' | 'replace' | 'test'; path: Place; value: Json }
  | { op: 'remove'; path: Place }
  | { op: 'move' | 'copy'; path: Place; from: Place };

function apply(copy: WorkingCopy, operation: Operation): void {
  const path = operation.path.tokens;
  switch (operation.op) {
    case 'add':
      copy.add(path, operation.value);
      return;
    case 'remove':
      copy.remove(path);
      return;
    case 'replace':
      copy.replace(path, operation.value);
      return;
    case 'copy':
      copy.add(path, copy.duplicate(operation.from.tokens));
      return;
    case 'move':
      move(copy, operation.from, operation.path);
      return;
    case 'test':
      if (!equalJson(copy.read(path), operation.value))
        throw new CannotApply('the value there is not the one tested for');
  }
}

function move(copy: WorkingCopy, from: Place, to: Place): void {
  if (from.text === to.text) {
    copy.read(from.tokens);
    return;
  }
  if (to.text.startsWith(`${from.text}/`)) {
    throw new CannotApply(`${shownPointer(from.text)} cannot be moved into itself`);
  }
  copy.add(to.tokens, copy.remove(from.tokens));
}

function parseOperation(operation: Json, index: number): Operation {
  if (!isJsonObject(operation)) throw malformed(index, 'is not an object');
  const op = fieldOf(operation, 'op');
  switch (op) {
    case 'add':
    case 'replace':
    case 'test': {
      const value = fieldOf(operation, 'value');
      if (value === undefined) throw malformed(index, `("${op}") has no "value"`);
      return { op, path: parsePlace(operation, 'path', op, index), value };
    }
    case 'remove':
      return { op, path: parsePlace(operation, 'path', op, index) };
    case 'move':
    case 'copy':
      return {
        op,
        path: parsePlace(operation, 'path', op, index),
        from: parsePlace(operation, 'from', op, index),
      };
    default:
      throw malformed(
        index,
        `has ${op === undefined ? 'no "op"' : `"op": ${shown(op)}`}; it must be one of add, remove, replace, move, copy, test`,
      );
  }
}

function parsePlace(operation: JsonObject, field: 'path' | 'from', op: string, index: number): Place {
  const text = fieldOf(operation, field);
  if (typeof text !== 'string') throw malformed(index, `("${op}") has no "${field}"; it must be a JSON pointer`);
  const tokens = parsePointer(text);
  if (tokens === undefined) {
    throw malformed(
      index,
      `("${op}") has "${field}": ${shownPointer(text)}, which is not a JSON pointer: it must be empty or begin with "/", and "~" only stands in "~0" and "~1"`,
    );
  }
  return { text, tokens };
}

function doesNotFit(operation: Operation, index: number, why: string): ApiError {
  const from = 'from' in operation ? ` from ${shownPointer(operation.from.text)} to` : '';
  return invalidPatch(
    `operation ${index} of the JSON patch (${operation.op}${from} ${shownPointer(operation.path.text)}) cannot be applied: ${why}`,
  );
}

const invalidPatch = (message: string): ApiError => new ApiError(422, 'Invalid', message, {});
const malformed = (index: number, why: string): ApiError => badRequest(`operation ${index} of the JSON patch ${why}`);
const shown = (value: Json): string => shownPointer(typeof value === 'string' ? value : JSON.stringify(value));
