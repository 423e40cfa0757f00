import type { Environment, TypeDeclaration } from '@marcbachmann/cel-js';
import { Optional } from '@marcbachmann/cel-js';
import type { AstNode, Checker, Evaluator, Macro, MacroCall, Scope } from '../ast.ts';
import { variableName } from '../ast.ts';
import { equalValues } from '../equality.ts';
import { definer, macroDefiner } from './define.ts';

/** What the evaluator lacks of optional values. */
export function registerOptionals(env: Environment): void {
  definer(env)('OptionalNamespace.ofNonZeroValue(A): optional<A>', (_: unknown, value: unknown) =>
    isZero(value) ? Optional.none() : Optional.of(value),
  );
  env.registerOperator('optional<A> == optional<A>', (a: Optional, b: Optional) =>
    a.hasValue() && b.hasValue() ? equalValues(a.value(), b.value()) : a.hasValue() === b.hasValue(),
  );
  const define = macroDefiner(env);
  define('optional.optMap(ast, ast): optional<dyn>', (call) => new MapOptional('optMap', call));
  define('optional.optFlatMap(ast, ast): optional<dyn>', (call) => new MapOptional('optFlatMap', call));
}

function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (value instanceof Map) return value.size === 0;
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.keys(value).length === 0;
  }
  return value === null || value === '' || value === false || value === 0n || value === 0;
}

/** `x.optMap(v, e)` is `e` about the value of `x`, where there is one. */
class MapOptional implements Macro {
  readonly async = false;
  readonly #name: string;
  readonly #from: AstNode;
  readonly #variable: string;
  readonly #body: AstNode;
  #inner: Scope | undefined;

  constructor(name: string, { receiver, args }: MacroCall) {
    this.#name = name;
    this.#from = receiver;
    this.#variable = variableName(args[0], name);
    const body = args[1];
    if (body === undefined) throw new Error(`${name}() lacks arguments`);
    this.#body = body;
  }

  typeCheck(checker: Checker, _: Macro, scope: Scope): TypeDeclaration {
    const from = checker.check(this.#from, scope);
    if (from.kind !== 'optional' && from.kind !== 'dyn') {
      throw checker.createError(
        'optional_expected',
        `${this.#name}() needs an optional, but is called on '${from}'`,
        this.#from,
      );
    }
    this.#inner = scope.forkWithVariable(this.#variable, from.valueType ?? checker.getType('dyn'));
    const body = checker.check(this.#body, this.#inner);
    if (this.#name === 'optMap') return checker.getType(`optional<${body}>`);
    if (body.kind === 'optional' || body.kind === 'dyn') return body;
    throw checker.createError(
      'optional_expected',
      `the expression of optFlatMap() must be an optional, but is '${body}'`,
      this.#body,
    );
  }

  evaluate(evaluator: Evaluator, _: Macro, scope: Scope): unknown {
    const from = evaluator.run(this.#from, scope);
    if (!(from instanceof Optional)) throw new Error(`no such overload: ${this.#name}() needs an optional`);
    if (!from.hasValue() || this.#inner === undefined) return Optional.none();
    const result = evaluator.run(this.#body, this.#inner.reuse(scope).setIterValue(from.value(), evaluator));
    return this.#name === 'optMap' ? Optional.of(result) : result;
  }
}
