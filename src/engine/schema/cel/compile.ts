import type { Environment, ParseResult, TypeCheckResult } from '@marcbachmann/cel-js';
import type { Json } from '../../../api/json.ts';
import type { JsonSchema, ValidationRule } from '../../../api/json-schema.ts';
import { parseGoDuration } from '../duration.ts';
import { isDateTime } from '../formats.ts';
import { compileRegexp } from '../regexp/regexp.ts';
import type { AstNode } from './ast.ts';
import { isAstNode, nodesIn } from './ast.ts';
import { MAX_EXPRESSION, newEnvironment } from './environment.ts';
import { normalizedFieldPath } from './field-path.ts';
import { adapt, measure } from './instrument.ts';
import { MATCHES } from './library/text.ts';
import { CelTypes, identifiersIn } from './types.ts';

/** The rules of one schema node, ready to be evaluated. */
export interface CompiledRules {
  readonly rules: readonly CompiledRule[];
  /** Turns a value of the node into what rules see as `self`. */
  read(value: Json): unknown;
}

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Why it does not compile; then there is no program. */
  readonly fault: string | undefined;
  readonly program: Program | undefined;
  readonly messageFault: string | undefined;
  readonly messageProgram: Program | undefined;
  /** A rule about a transition: it needs the old value. */
  readonly usesOldSelf: boolean;
  /** Where its faults are, below the node. */
  readonly fieldPath: string | undefined;
}

export type Program = (variables: { self: unknown; oldSelf: unknown }) => unknown;

const compiled = new WeakMap<JsonSchema, CompiledRules>();

/** Compiles the rules of a node, once. `isResource` for the root of whole objects, embedded ones included. */
export function compiledRules(schema: JsonSchema, isResource: boolean): CompiledRules {
  let rules = compiled.get(schema);
  if (rules === undefined) {
    rules = compileRules(schema, isResource);
    compiled.set(schema, rules);
  }
  return rules;
}

function compileRules(schema: JsonSchema, isResource: boolean): CompiledRules {
  const rules = schema['x-kubernetes-validations'] ?? [];
  const env = newEnvironment();
  const texts = rules.flatMap(({ rule, messageExpression }) => [String(rule), messageExpression ?? '']);
  const type = new CelTypes(env, identifiersIn(texts)).of(schema, isResource);
  if (type === undefined) {
    const fault = 'rules cannot be evaluated here: the schema does not say enough about the type of the value';
    return { rules: rules.map((rule) => refused(rule, fault)), read: (value) => value };
  }
  env.registerVariable('self', type.name);
  const withOld = env.clone().registerVariable('oldSelf', type.name);
  const withOptionalOld = env.clone().registerVariable('oldSelf', `optional<${type.name}>`);
  return {
    rules: rules.map((rule) => compileRule(rule, schema, rule.optionalOldSelf === true ? withOptionalOld : withOld)),
    read: type.read,
  };
}

const refused = (rule: ValidationRule, fault: string): CompiledRule => ({
  rule,
  fault,
  program: undefined,
  messageFault: undefined,
  messageProgram: undefined,
  usesOldSelf: false,
  fieldPath: undefined,
});

function compileRule(rule: ValidationRule, schema: JsonSchema, env: Environment): CompiledRule {
  const main = compileExpression(rule.rule, 'bool', env);
  const message =
    rule.messageExpression === undefined ? undefined : compileExpression(rule.messageExpression, 'string', env);
  return {
    rule,
    fault:
      main.fault === 'type' ? 'cel expression must evaluate to a bool' : prefixed('compilation failed: ', main.fault),
    program: main.program,
    messageFault:
      message?.fault === 'type'
        ? 'messageExpression must evaluate to a string'
        : prefixed('messageExpression compilation failed: ', message?.fault),
    messageProgram: message?.program,
    usesOldSelf: main.usesOldSelf,
    fieldPath: rule.fieldPath === undefined ? undefined : normalizedFieldPath(rule.fieldPath, schema),
  };
}

const prefixed = (prefix: string, fault: string | undefined): string | undefined =>
  fault === undefined ? undefined : prefix + fault;

interface Expression {
  /** What is wrong with it, or that it has another type than it should. */
  readonly fault: string | undefined;
  readonly program: Program | undefined;
  readonly usesOldSelf: boolean;
}

function compileExpression(text: string, type: 'bool' | 'string', env: Environment): Expression {
  const fail = (fault: string): Expression => ({ fault, program: undefined, usesOldSelf: false });
  if (text.length > MAX_EXPRESSION) {
    return fail(`expression code point size exceeds limit: size: ${text.length}, limit ${MAX_EXPRESSION}`);
  }
  try {
    const parsed: ParseResult = env.parse(text);
    // The evaluator declares a part of what a node is.
    const root: unknown = parsed.ast;
    if (!isAstNode(root)) return fail('the expression has no syntax tree');
    adapt(root);
    const { valid, type: found, error }: TypeCheckResult = parsed.check();
    if (!valid) return fail(explained(error, text));
    if (found !== type && found !== 'dyn') return fail('type');
    const literalFault = faultInLiterals(root);
    if (literalFault !== undefined) return fail(literalFault);
    measure(root);
    return { fault: undefined, program: parsed, usesOldSelf: [...nodesIn(root)].some(isOldSelf) };
  } catch (error) {
    return fail(explained(error, text));
  }
}

const isOldSelf = (node: AstNode): boolean => node.op === 'id' && node.args === 'oldSelf';

/** Patterns, durations and timestamps that are written out must be ones. */
function faultInLiterals(root: AstNode): string | undefined {
  for (const { op, args } of nodesIn(root)) {
    if (!Array.isArray(args)) continue;
    const name: unknown = args[0];
    const [literal] = (op === 'call' ? args[1] : op === 'rcall' ? args[2] : undefined) ?? [];
    const value = isAstNode(literal) && literal.op === 'value' ? literal.args : undefined;
    if (typeof value !== 'string') continue;
    if (op === 'rcall' && (name === MATCHES || name === 'find' || name === 'findAll')) {
      try {
        compileRegexp(value);
      } catch (error) {
        return `ERROR: invalid matches argument: ${error instanceof Error ? error.message : String(error)}`;
      }
    }
    if (op === 'call' && name === 'duration' && parseGoDuration(value) === undefined)
      return 'ERROR: invalid duration argument';
    if (op === 'call' && name === 'timestamp' && !isDateTime(value)) return 'ERROR: invalid timestamp argument';
  }
  return undefined;
}

/** In the form that kube-apiserver shows: what, where, and the line with a caret under the place. */
function explained(error: unknown, text: string): string {
  if (error instanceof RangeError) return 'the expression nests too deeply';
  const summary = error instanceof Error && 'summary' in error ? String(error.summary) : messageOf(error);
  const range: unknown = error instanceof Error && 'range' in error ? error.range : undefined;
  const start = typeof range === 'object' && range !== null && 'start' in range ? Number(range.start) : 0;
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const lineNumber = text.slice(0, lineStart).split('\n').length;
  const line = text.slice(lineStart).split('\n', 1)[0] ?? '';
  const column = start - lineStart;
  return `ERROR: <input>:${lineNumber}:${column + 1}: ${reworded(summary)}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function reworded(summary: string): string {
  return summary
    .replace(/^No such key: (.*)$/s, "undefined field '$1'")
    .replace(/^Unknown variable: (.*)$/s, "undeclared reference to '$1' (in container '')")
    .replaceAll(MATCHES, 'matches')
    .replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
}
