import type { Json } from '../../api/json.ts';
import type { ValueCheck } from './check-value.ts';
import { Faults } from './faults.ts';
import type { Node } from './node.ts';
import { NOWHERE } from './place.ts';

/**
 * Checks allOf, anyOf, oneOf and not. Of alternatives that all fail, the faults of the one that fits best are told: people
 * mostly meant that one. True when part of the value is known to have changed.
 */
export function checkAlternatives(check: ValueCheck, value: Json, node: Node, old: Json | undefined): boolean {
  let changed = false;
  const attempt = (alternative: Node): Faults => {
    const outer = check.faults;
    const inner = new Faults();
    check.faults = inner;
    changed = check.againstNode(value, alternative, old) || changed;
    check.faults = outer;
    return inner;
  };
  const say = (rule: string): void => {
    const detail = `${JSON.stringify(check.place.dotted)} must ${rule}`;
    check.faults.add({ type: 'Invalid', field: NOWHERE, value: '', detail });
  };
  checkAnyOf(check, node, attempt, say);
  checkOneOf(check, node, attempt, say);
  checkAllOf(check, node, attempt, say);
  if (node.not !== undefined && attempt(node.not).list.length === 0) say('not validate the schema (not)');
  check.faults.matches++;
  return changed;
}

type Attempt = (alternative: Node) => Faults;
type Say = (rule: string) => void;

function checkAnyOf(check: ValueCheck, node: Node, attempt: Attempt, say: Say): void {
  if (node.anyOf.length === 0) return;
  let best: Faults | undefined;
  for (const alternative of node.anyOf) {
    const result = attempt(alternative);
    if (result.list.length === 0) {
      check.faults.matches += result.matches;
      return;
    }
    if (best === undefined || result.matches > best.matches) best = result;
  }
  say('validate at least one schema (anyOf)');
  if (best !== undefined) check.faults.merge(best);
}

function checkOneOf(check: ValueCheck, node: Node, attempt: Attempt, say: Say): void {
  if (node.oneOf.length === 0) return;
  const results = node.oneOf.map(attempt);
  const [valid, ...others] = results.filter((result) => result.list.length === 0);
  if (valid !== undefined && others.length === 0) {
    check.faults.matches += valid.matches;
    return;
  }
  const count = valid === undefined ? 'Found none valid' : `Found ${others.length + 1} valid alternatives`;
  say(`validate one and only one schema (oneOf). ${count}`);
  if (valid === undefined) {
    check.faults.merge(results.reduce((best, result) => (result.matches > best.matches ? result : best)));
  }
}

function checkAllOf(check: ValueCheck, node: Node, attempt: Attempt, say: Say): void {
  if (node.allOf.length === 0) return;
  const results = node.allOf.map(attempt);
  for (const result of results) check.faults.merge(result);
  const invalid = results.filter((result) => result.list.length > 0).length;
  if (invalid > 0) say(`validate all the schemas (allOf)${invalid === results.length ? '. None validated' : ''}`);
}
