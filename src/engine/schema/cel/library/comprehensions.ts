import type { Environment, TypeDeclaration } from '@marcbachmann/cel-js';
import type { AstNode, Checker, Evaluator, Macro, MacroCall, Scope } from '../ast.ts';
import { stepsIn, variableName } from '../ast.ts';
import { meter } from '../meter.ts';
import { macroDefiner } from './define.ts';

/** Macros with two variables: index and item of a list, or key and value of a map. */
export function registerComprehensions(env: Environment): void {
  const define = macroDefiner(env);
  const quantifier = (name: string, run: Run): void =>
    define(`list.${name}(ast, ast, ast): bool`, (call) => new TwoVariables(name, call, run, boolResult));
  quantifier('all', (loop) => decided(loop, false));
  quantifier('exists', (loop) => decided(loop, true));
  for (const name of ['existsOne', 'exists_one'])
    quantifier(name, (loop) => loop.count((answer) => answer === true) === 1);
  for (const args of ['ast, ast, ast', 'ast, ast, ast, ast']) {
    define(
      `list.transformList(${args}): list<dyn>`,
      (call) => new TwoVariables('transformList', call, listOf, listResult),
    );
    define(
      `list.transformMap(${args}): map<dyn, dyn>`,
      (call) => new TwoVariables('transformMap', call, mapOf, mapResult),
    );
    define(
      `list.transformMapEntry(${args}): map<dyn, dyn>`,
      (call) => new TwoVariables('transformMapEntry', call, merged, sameResult),
    );
  }
}

type Run = (loop: Loop) => unknown;
type ResultType = (checker: Checker, range: TypeDeclaration, body: TypeDeclaration) => TypeDeclaration;

class TwoVariables implements Macro {
  readonly async = false;
  readonly #name: string;
  readonly #range: AstNode;
  readonly #variables: readonly [string, string];
  readonly #filter: AstNode | undefined;
  readonly #body: AstNode;
  readonly #run: Run;
  readonly #result: ResultType;
  readonly #steps: number;
  #scopes: readonly [Scope, Scope] | undefined;

  constructor(name: string, { receiver, args }: MacroCall, run: Run, result: ResultType) {
    this.#name = name;
    this.#range = receiver;
    this.#variables = [variableName(args[0], name), variableName(args[1], name)];
    this.#filter = args.length > 3 ? args[2] : undefined;
    const body = args.at(-1);
    if (body === undefined) throw new Error(`${name}() lacks arguments`);
    this.#body = body;
    this.#run = run;
    this.#result = result;
    this.#steps = stepsIn(body) + (this.#filter === undefined ? 0 : stepsIn(this.#filter));
  }

  typeCheck(checker: Checker, _: Macro, scope: Scope): TypeDeclaration {
    const range = checker.check(this.#range, scope);
    if (range.kind !== 'list' && range.kind !== 'map' && range.kind !== 'dyn') {
      throw checker.createError(
        'invalid_comprehension_range',
        `expression of type '${range}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        this.#range,
      );
    }
    const dyn = checker.getType('dyn');
    const key = range.kind === 'list' ? checker.getType('int') : (range.keyType ?? dyn);
    const outer = scope.forkWithVariable(this.#variables[0], key);
    const inner = outer.forkWithVariable(this.#variables[1], range.valueType ?? dyn);
    this.#scopes = [outer, inner];
    if (this.#filter !== undefined && !checker.check(this.#filter, inner).isDynOrBool()) {
      throw checker.createError('invalid_condition_type', `the filter of ${this.#name}() must be a bool`, this.#filter);
    }
    return this.#result(checker, range, checker.check(this.#body, inner));
  }

  evaluate(evaluator: Evaluator, _: Macro, scope: Scope): unknown {
    const range = evaluator.run(this.#range, scope);
    meter.charge(lengthOf(range) * (this.#steps + 1));
    const members = membersOf(range, this.#name);
    const [outer, inner] = this.#scopes ?? [];
    if (outer === undefined || inner === undefined) throw new Error(`${this.#name}() was not checked`);
    const within = ([key, value]: Member): Scope =>
      inner.reuse(outer.reuse(scope).setIterValue(key, evaluator)).setIterValue(value, evaluator);
    const filter = this.#filter;
    const taken = (member: Member): boolean => filter === undefined || evaluator.run(filter, within(member)) === true;
    return this.#run(new Loop(members, taken, (member) => [evaluator, this.#body, within(member)]));
  }
}

type Member = readonly [unknown, unknown];

class Loop {
  readonly #members: readonly Member[];
  readonly #taken: (member: Member) => boolean;
  readonly #body: (member: Member) => [Evaluator, AstNode, Scope];

  constructor(
    members: readonly Member[],
    taken: (member: Member) => boolean,
    body: (member: Member) => [Evaluator, AstNode, Scope],
  ) {
    this.#members = members;
    this.#taken = taken;
    this.#body = body;
  }

  /** What the body makes of every member that passes the filter, with its key. */
  *results(): Generator<Member> {
    for (const member of this.#members) {
      if (!this.#taken(member)) continue;
      const [evaluator, body, scope] = this.#body(member);
      yield [member[0], evaluator.run(body, scope)];
    }
  }

  /** As the body alone, with errors as answers. */
  *answers(): Generator<unknown> {
    for (const member of this.#members) {
      const [evaluator, body, scope] = this.#body(member);
      yield evaluator.tryEval(body, scope);
    }
  }

  count(counts: (answer: unknown) => boolean): number {
    let count = 0;
    for (const [, answer] of this.results()) if (counts(answer)) count++;
    return count;
  }
}

/** One member decides; only when none does, an error of one of them counts. */
function decided(loop: Loop, decisive: boolean): boolean {
  let error: Error | undefined;
  for (const answer of loop.answers()) {
    if (answer === decisive) return decisive;
    if (answer instanceof Error) error ??= answer;
    if (meter.isExhausted) break;
  }
  if (error !== undefined) throw error;
  return !decisive;
}

const listOf: Run = (loop) => [...loop.results()].map(([, value]) => value);
const mapOf: Run = (loop) => new Map(loop.results());

const merged: Run = (loop) => {
  const all = new Map<unknown, unknown>();
  for (const [, entry] of loop.results()) {
    for (const [key, value] of membersOf(entry, 'transformMapEntry')) {
      if (all.has(key)) throw new Error(`insert failed: key ${String(key)} already exists`);
      all.set(key, value);
    }
  }
  return all;
};

/** How many times a macro goes round. */
export function lengthOf(range: unknown): number {
  if (Array.isArray(range)) return range.length;
  if (range instanceof Map) return range.size;
  return typeof range === 'object' && range !== null ? Object.keys(range).length : 0;
}

function membersOf(range: unknown, macro: string): Member[] {
  if (Array.isArray(range)) return range.map((item, i) => [BigInt(i), item]);
  if (range instanceof Map) return [...range];
  if (typeof range === 'object' && range !== null && Object.getPrototypeOf(range) === Object.prototype)
    return Object.entries(range);
  throw new Error(`no such overload: ${macro}() needs a list or a map`);
}

const boolResult: ResultType = (checker, _range, body) => {
  if (!body.isDynOrBool()) throw new Error(`the predicate must be a bool, but is '${body}'`);
  return checker.getType('bool');
};
const listResult: ResultType = (checker, _range, body) => checker.getType(`list<${body}>`);
const mapResult: ResultType = (checker, range, body) =>
  checker.getType(`map<${range.kind === 'list' ? 'int' : (range.keyType ?? 'dyn')}, ${body}>`);
const sameResult: ResultType = (_checker, _range, body) => body;
