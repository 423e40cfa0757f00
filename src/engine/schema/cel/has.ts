import type { TypeDeclaration } from '@marcbachmann/cel-js';
import { Optional } from '@marcbachmann/cel-js';
import type { AstNode, Checker, Evaluator, Macro, Scope } from './ast.ts';
import { isAstNode } from './ast.ts';

/**
 * `has(e.f)`, for any `e`, and with `f` known to its type. The evaluator's own takes chains of names only, and any names.
 */
export class HasMacro implements Macro {
  readonly async = false;
  readonly #select: AstNode | undefined;

  constructor(argument: AstNode | undefined) {
    this.#select = argument;
  }

  typeCheck(checker: Checker, _: Macro, scope: Scope): TypeDeclaration {
    if (this.#select?.op !== '.') throw new Error('invalid argument to has() macro');
    checker.check(this.#select, scope);
    return checker.getType('bool');
  }

  evaluate(evaluator: Evaluator, _: Macro, scope: Scope): boolean {
    const select = this.#select;
    const [of, field] = Array.isArray(select?.args) ? select.args : [];
    if (select === undefined || !isAstNode(of) || typeof field !== 'string') return false;
    const object = evaluator.run(of, scope);
    const value = evaluator.debugType(object).fieldLazy(object, field, select, evaluator);
    return value instanceof Optional ? value.hasValue() : value !== undefined;
  }
}
