import type { JsonSchema, ValidationRule } from '../../../api/json-schema.ts';
import type { FieldError } from '../../../api/status.ts';
import { compiledRules } from '../cel/compile.ts';
import { normalizedFieldPath } from '../cel/field-path.ts';
import { invalid, notSupported, required } from './schema-fault.ts';

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** What can be said of CEL rules without compiling them. */
export function ruleTextFaults(schema: JsonSchema, path: string): FieldError[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap((rule, i) =>
    textFaults(rule, schema, `${path}.x-kubernetes-validations[${i}]`),
  );
}

function textFaults(rule: ValidationRule, schema: JsonSchema, path: string): FieldError[] {
  const faults: FieldError[] = [];
  const { message, messageExpression, fieldPath } = rule;
  const text = (rule.rule ?? '').trim();
  const trimmed = message?.trim() ?? '';
  if (text === '') faults.push(required(`${path}.rule`, 'rule is not specified'));
  else if (message !== undefined && message !== '' && trimmed === '') {
    faults.push(invalid(`${path}.message`, message, 'message must be non-empty if specified'));
  } else if (hasLineBreak(trimmed)) {
    faults.push(invalid(`${path}.message`, message, 'message must not contain line breaks'));
  } else if (hasLineBreak(text) && trimmed === '') {
    faults.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== undefined && messageExpression !== '' && messageExpression.trim() === '') {
    faults.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  }
  if (rule.reason !== undefined && !REASONS.includes(rule.reason)) {
    faults.push(notSupported(`${path}.reason`, rule.reason, REASONS));
  }
  if (fieldPath !== undefined && fieldPath !== '') {
    const at = `${path}.fieldPath`;
    if (fieldPath.trim() === '') faults.push(invalid(at, fieldPath, 'fieldPath must be non-empty if specified'));
    if (hasLineBreak(fieldPath)) faults.push(invalid(at, fieldPath, 'fieldPath must not contain line breaks'));
    if (normalizedFieldPath(fieldPath, schema) === undefined) {
      faults.push(invalid(at, fieldPath, 'fieldPath must be a valid path'));
    }
  }
  return faults;
}

const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

/** What compiling them brings to light. */
export function compileFaults(
  schema: JsonSchema,
  path: string,
  { isResource, uncorrelatable }: { readonly isResource: boolean; readonly uncorrelatable: string | undefined },
): FieldError[] {
  if ((schema['x-kubernetes-validations'] ?? []).length === 0) return [];
  return compiledRules(schema, isResource).rules.flatMap(({ rule, fault, messageFault, usesOldSelf }, i) => {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    const faults: FieldError[] = [];
    if (fault !== undefined) faults.push(invalid(`${at}.rule`, rule, fault));
    if (messageFault !== undefined) faults.push(invalid(`${at}.messageExpression`, rule, messageFault));
    if (usesOldSelf && uncorrelatable !== undefined) {
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
      faults.push(invalid(`${at}.rule`, rule.rule, why));
    }
    if (!usesOldSelf && fault === undefined && rule.optionalOldSelf !== undefined) {
      faults.push(
        invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'),
      );
    }
    return faults;
  });
}
