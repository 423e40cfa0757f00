import type { Json } from './json.ts';
import { isJsonObject } from './json.ts';
import { badRequest } from './status.ts';
import { labelValueFaults, qualifiedNameFaults } from './syntax.ts';

/** Which objects are meant, by their labels. */
export interface Selector {
  readonly requirements: readonly Requirement[];
  matches(labels: Labels | undefined): boolean;
}
export type Labels = Readonly<Record<string, string>>;

export interface Requirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';
  readonly values: readonly string[];
}

export function selector(requirements: readonly Requirement[]): Selector {
  return { requirements, matches: (labels) => requirements.every((requirement) => holds(requirement, labels ?? {})) };
}
export const everything: Selector = selector([]);
export const nothing: Selector = { requirements: [], matches: () => false };

function holds({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value);
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    default: {
      const bound = values[0];
      if (value === undefined || bound === undefined || !INTEGER.test(value)) return false;
      return operator === 'gt' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
    }
  }
}

/** Reads the text form, as in the query parameter `labelSelector`: `app=web,tier in (front,back),!old`. */
export function parseLabelSelector(text: string): Selector {
  return selector(new LabelSelectorReader(text).requirements());
}

/** Reads the object form, with `matchLabels` and `matchExpressions`. None at all selects nothing, an empty one everything. */
export function labelSelector(from: Json | undefined): Selector {
  if (from === undefined || from === null) return nothing;
  if (!isJsonObject(from)) throw badRequest('a label selector must be an object with matchLabels and matchExpressions');
  const { matchLabels, matchExpressions } = from;
  const requirements: Requirement[] = [];
  if (isJsonObject(matchLabels)) {
    for (const [key, value] of Object.entries(matchLabels)) {
      requirements.push(requirement(key, 'in', [typeof value === 'string' ? value : '']));
    }
  }
  if (Array.isArray(matchExpressions)) requirements.push(...matchExpressions.map(expression));
  return selector(requirements);
}

const OPERATORS = new Map<Json | undefined, Requirement['operator']>([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

function expression(from: Json): Requirement {
  if (!isJsonObject(from)) throw badRequest('each of matchExpressions must be an object with key, operator and values');
  const operator = OPERATORS.get(from['operator']);
  if (operator === undefined) {
    throw badRequest(`${JSON.stringify(from['operator'] ?? '')} is not a valid label selector operator`);
  }
  const values = Array.isArray(from['values']) ? from['values'].filter((value) => typeof value === 'string') : [];
  return requirement(typeof from['key'] === 'string' ? from['key'] : '', operator, values);
}

function requirement(key: string, operator: Requirement['operator'], values: string[]): Requirement {
  const faults = requirementFaults(key, operator, values);
  if (faults.length > 0) throw badRequest(faults.length === 1 ? String(faults[0]) : `[${faults.join(', ')}]`);
  return { key, operator, values };
}

function requirementFaults(key: string, operator: Requirement['operator'], values: string[]): string[] {
  const faults: string[] = [];
  const keyFaults = qualifiedNameFaults(key);
  if (keyFaults.length > 0) faults.push(`key: Invalid value: ${JSON.stringify(key)}: ${keyFaults.join('; ')}`);
  const shown = `values: Invalid value: ${JSON.stringify(values)}:`;
  if (operator === 'in' || operator === 'notin') {
    if (values.length === 0) faults.push(`${shown} for 'in', 'notin' operators, values set can't be empty`);
  } else if (operator === 'exists' || operator === '!') {
    if (values.length > 0) faults.push(`${shown} values set must be empty for exists and does not exist`);
  } else if (!values.every((value) => INTEGER.test(value))) {
    faults.push(
      `values[0]: Invalid value: ${JSON.stringify(values[0])}: for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  }
  values.forEach((value, i) => {
    const valueFaults = labelValueFaults(value);
    if (valueFaults.length > 0) {
      faults.push(`values[${i}][${key}]: Invalid value: ${JSON.stringify(value)}: ${valueFaults.join('; ')}`);
    }
  });
  return faults;
}

const INTEGER = /^[-+]?\d{1,19}$/;
const SYMBOLS = new Set('=!(),><');
const SYMBOL_TOKENS = new Set(['=', '==', '!=', '!', '(', ')', ',', '>', '<']);

/** An identifier, an operator or punctuation; the end has empty text. */
interface Token {
  readonly type: 'word' | 'symbol' | 'end';
  readonly text: string;
}
const END: Token = { type: 'end', text: '' };

class LabelSelectorReader {
  readonly #tokens: Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokens(text);
  }

  requirements(): Requirement[] {
    const found: Requirement[] = [];
    if (this.#peek().type === 'end') return found;
    if (!this.#startsRequirement()) {
      throw badRequest(`found '${this.#peek().text}', expected: !, identifier, or 'end of string'`);
    }
    while (true) {
      found.push(this.#inRequirement(() => this.#requirement()));
      const token = this.#next();
      if (token.type === 'end') return found.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
      if (token.text !== ',') throw badRequest(`found '${token.text}', expected: ',' or 'end of string'`);
      if (!this.#startsRequirement()) {
        throw badRequest(`found '${this.#peek().text}', expected: identifier after ','`);
      }
    }
  }

  #inRequirement<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw badRequest(`unable to parse requirement: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #requirement(): Requirement {
    const negated = this.#peek().text === '!';
    if (negated) this.#next();
    const key = this.#next();
    if (key.type !== 'word') throw badRequest(`found '${key.text}', expected: identifier`);
    const faults = qualifiedNameFaults(key.text);
    if (faults.length > 0) {
      throw badRequest(`<nil>: Invalid value: ${JSON.stringify(key.text)}: ${faults.join('; ')}`);
    }
    if (negated) return requirement(key.text, '!', []);
    if (this.#atEndOfRequirement()) return requirement(key.text, 'exists', []);
    const operator = this.#next();
    switch (operator.text) {
      case '=':
      case '==':
        return requirement(key.text, 'in', [this.#exactValue()]);
      case '!=':
        return requirement(key.text, 'notin', [this.#exactValue()]);
      case '>':
        return requirement(key.text, 'gt', [this.#exactValue()]);
      case '<':
        return requirement(key.text, 'lt', [this.#exactValue()]);
      case 'in':
      case 'notin':
        return requirement(key.text, operator.text, this.#valueSet());
      default:
        throw badRequest(`found '${operator.text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  #exactValue(): string {
    if (this.#atEndOfRequirement()) return '';
    const token = this.#next();
    if (token.type !== 'word') throw badRequest(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  /** `(a,b)`; an omitted value, as in `(a,)` or `()`, is the empty string. */
  #valueSet(): string[] {
    const open = this.#next();
    if (open.text !== '(') throw badRequest(`found '${open.text}' expected: '('`);
    const values = new Set<string>();
    while (true) {
      const value = this.#peek().type === 'word' ? this.#next().text : '';
      values.add(value);
      const token = this.#next();
      if (token.text === ')' && token.type === 'symbol') return [...values].sort();
      if (token.text !== ',') throw badRequest(`found '${token.text}', expected: ',' or ')'`);
    }
  }

  #startsRequirement(): boolean {
    const token = this.#peek();
    return token.type === 'word' || token.text === '!';
  }
  #atEndOfRequirement(): boolean {
    const token = this.#peek();
    return token.type === 'end' || token.text === ',';
  }
  #peek(): Token {
    return this.#tokens[this.#at] ?? END;
  }
  #next(): Token {
    return this.#tokens[this.#at++] ?? END;
  }
}

function tokens(text: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (/[ \t\r\n]/.test(char)) {
      at++;
    } else if (SYMBOLS.has(char)) {
      const two = text.slice(at, at + 2);
      const symbol = SYMBOL_TOKENS.has(two) ? two : char;
      found.push({ type: 'symbol', text: symbol });
      at += symbol.length;
    } else {
      const word = /[^ \t\r\n=!(),><]+/y;
      word.lastIndex = at;
      const match = word.exec(text)?.[0] ?? char;
      found.push({ type: 'word', text: match });
      at += match.length;
    }
  }
  return found;
}

/** A label selector as objects carry it: `labelSelector` reads it. */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'; values?: string[] }[];
}
