import type { TypeDeclaration } from '@marcbachmann/cel-js';

/*
 * What the evaluator is made of, as far as Kubernetes needs more of it than it publishes: macros with more than one
 * variable, and a hook on the operations whose cost depends on data. The version of the package is pinned, and the tests of
 * this folder fail when one of these names goes away.
 */

/** A node of a parsed expression. */
export interface AstNode {
  readonly op: string;
  /** A literal, a name, a node, or lists of these, as the operator has it. */
  readonly args: unknown;
  readonly meta: { readonly alternate?: AstNode; readonly macro?: object };
  /** Set when the node is checked. */
  readonly checkedType?: TypeDeclaration;
  /** Set when the node is checked: does the work once the operands are known. */
  handle?: (...args: unknown[]) => unknown;
  setMeta(key: 'macro', value: Macro): AstNode;
}

/** A call that is not evaluated like others: it decides itself which of its arguments are, and how often. */
export interface Macro {
  evaluate(evaluator: Evaluator, macro: this, scope: Scope): unknown;
  typeCheck(checker: Checker, macro: this, scope: Scope): TypeDeclaration;
  readonly async: false;
}

export interface MacroCall {
  readonly args: AstNode[];
  readonly receiver: AstNode;
}

export interface Evaluator {
  run(node: AstNode, scope: Scope): unknown;
  /** As `run`, but an error is an answer. */
  tryEval(node: AstNode, scope: Scope): unknown;
  debugType(value: unknown): {
    fieldLazy(object: unknown, field: string, node: AstNode, evaluator: Evaluator): unknown;
  };
}

export interface Checker {
  check(node: AstNode, scope: Scope): TypeDeclaration;
  getType(name: string): TypeDeclaration;
  createError(code: string, message: string, node: AstNode): Error;
}

/** The variables that an expression sees. */
export interface Scope {
  forkWithVariable(name: string, type: TypeDeclaration): Scope;
  reuse(parent: Scope): Scope;
  setIterValue(value: unknown, evaluator: Evaluator): Scope;
}

export function isAstNode(value: unknown): value is AstNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'setMeta' in value;
}

/** The parts of a node, however it keeps them. */
export function children(node: AstNode): AstNode[] {
  const found: AstNode[] = [];
  const open: unknown[] = [node.args];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (isAstNode(part)) found.push(part);
    else if (Array.isArray(part)) open.push(...part);
  }
  return found;
}

/** A node and all below it, as written: what macros were made into is reached through their `meta`. */
export function* nodesIn(root: AstNode): Generator<AstNode> {
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    open.push(...children(node));
  }
}

/** About how many steps it takes to evaluate a node once, leaving aside what depends on data. */
export const stepsIn = (node: AstNode): number => [...nodesIn(node)].length;

/** The variable that a macro is given a name for. */
export function variableName(node: AstNode | undefined, macro: string): string {
  if (node?.op === 'id' && typeof node.args === 'string') return node.args;
  throw new Error(`argument of ${macro}() must be the name of a variable`);
}
