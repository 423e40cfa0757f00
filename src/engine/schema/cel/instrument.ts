import { Duration } from '@marcbachmann/cel-js/evaluator';
import type { AstNode } from './ast.ts';
import { children, nodesIn, stepsIn } from './ast.ts';
import { HasMacro } from './has.ts';
import { LazyObject } from './lazy-object.ts';
import { lengthOf } from './library/comprehensions.ts';
import { MATCHES } from './library/text.ts';
import { meter, textCost } from './meter.ts';

/** Before an expression is checked: puts our own versions in the place of functions that the evaluator has otherwise. */
export function adapt(root: AstNode): void {
  for (const node of nodesIn(root)) {
    if (!Array.isArray(node.args)) continue;
    const [name, first] = node.args;
    if (node.op === 'rcall' && name === 'matches') node.args[0] = MATCHES;
    else if (node.op === 'call' && name === 'has')
      node.setMeta('macro', new HasMacro(Array.isArray(first) ? first[0] : undefined));
  }
}

/** After an expression is checked: makes everything that costs more the more data there is charge for it. */
export function measure(root: AstNode): void {
  for (const node of nodesIn(root)) {
    const macro = node.meta.alternate;
    if (macro?.op === 'comprehension') measureLoop(node, macro);
    else if (children(node).every(isSmall)) continue;
    else if (COMPARING.has(node.op)) before(node, (left, right) => meter.charge(weightOf(left) + weightOf(right)));
    else if (node.op === '+') before(node, (left, right) => meter.charge(sizeOf(left) + sizeOf(right)));
    else if (node.op === 'call' || node.op === 'rcall') measureCall(node);
  }
}

/** Whether values of a node are all of about the same size, so that counting steps is counting enough. */
const isSmall = ({ checkedType }: AstNode): boolean => checkedType !== undefined && SMALL.has(checkedType.name);
const SMALL = new Set(['int', 'uint', 'double', 'bool', 'null', 'google.protobuf.Duration', 'net.IP', 'net.CIDR']);

const COMPARING = new Set(['==', '!=', 'in', '<', '<=', '>', '>=']);

function measureLoop(call: AstNode, loop: AstNode): void {
  const [, , args] = Array.isArray(call.args) ? call.args : [];
  const steps = Array.isArray(args) ? args.reduce((sum: number, arg: AstNode) => sum + stepsIn(arg), 1) : 1;
  before(loop, (range) => meter.charge(1 + lengthOf(range) * steps));
}

function measureCall(node: AstNode): void {
  const name = Array.isArray(node.args) ? node.args[0] : undefined;
  // Time zones are looked up in a database, slowly.
  const fixed = typeof name === 'string' && name.startsWith('get') && children(node).length > 1 ? 200 : 1;
  before(node, (values) =>
    meter.charge(fixed + (Array.isArray(values) ? values.reduce((sum: number, each) => sum + sizeOf(each), 0) : 0)),
  );
}

/** Has something done before the node does its work. */
function before(node: AstNode, act: (...operands: unknown[]) => void): void {
  const { handle } = node;
  if (handle === undefined) return;
  node.handle = (...operands) => {
    act(...operands);
    return handle(...operands);
  };
}

/** What a value costs where it is read once at its uppermost level. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return textCost(value);
  if (Array.isArray(value)) return value.length / 2;
  if (value instanceof LazyObject) return 1;
  return value instanceof Map ? value.size : 0;
}

const weights = new WeakMap<object, number>();

/** What a value costs where it is read to its depths. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') return textCost(value);
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Duration) return 0;
  if (value instanceof LazyObject) return value.weight;
  let weight = weights.get(value);
  if (weight === undefined) {
    weight = 1;
    if (Array.isArray(value)) for (const item of value) weight += 1 + weightOf(item);
    else if (value instanceof Map) for (const item of value.values()) weight += 2 + weightOf(item);
    weights.set(value, weight);
  }
  return weight;
}
