import type { CompiledRule, Program } from './compile.ts';
import { meter } from './meter.ts';

/** What one evaluation of a rule may cost. */
const CALL_LIMIT = 1_000_000;
/** What all evaluations for one object may cost together. */
export const OBJECT_LIMIT = 10_000_000;

const MAX_MESSAGE = 5 * 1024;

export interface Variables {
  readonly self: unknown;
  readonly oldSelf: unknown;
}

export type Outcome =
  | { readonly kind: 'holds' }
  | { readonly kind: 'fails'; readonly message: string }
  | { readonly kind: 'error'; readonly error: string }
  /** It cost more than one evaluation may. */
  | { readonly kind: 'exhausted' };

/** Evaluates a rule, and says what to tell when it does not hold. `cost` is what it took. */
export function evaluateRule(compiled: CompiledRule, variables: Variables): { outcome: Outcome; cost: number } {
  const { program } = compiled;
  if (program === undefined)
    return { outcome: { kind: 'error', error: compiled.fault ?? 'the rule is empty' }, cost: 0 };
  const answer = run(program, variables);
  if (answer.outcome !== undefined) return { outcome: answer.outcome, cost: answer.cost };
  if (answer.value === true) return { outcome: { kind: 'holds' }, cost: answer.cost };
  if (answer.value !== false) {
    return { outcome: { kind: 'error', error: 'no such overload: the rule is not a bool' }, cost: answer.cost };
  }
  const message = computedMessage(compiled, variables);
  return {
    outcome: { kind: 'fails', message: message.text ?? defaultMessage(compiled) },
    cost: answer.cost + message.cost,
  };
}

function defaultMessage({ rule }: CompiledRule): string {
  const message = rule.message?.trim() ?? '';
  return message === '' ? `failed rule: ${rule.rule.trim()}` : message;
}

/** How a rule is named in messages about it. */
export const ruleName = ({ rule }: CompiledRule): string => {
  const message = rule.message?.trim() ?? '';
  return message === '' ? rule.rule.trim() : message;
};

/** An expression that fails, or makes an unfit message, is passed over in favour of the fixed message. */
function computedMessage(
  { messageProgram }: CompiledRule,
  variables: Variables,
): { text: string | undefined; cost: number } {
  if (messageProgram === undefined) return { text: undefined, cost: 0 };
  const { value, cost } = run(messageProgram, variables);
  const text = typeof value === 'string' ? value.trim() : '';
  const isFit = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= MAX_MESSAGE;
  return { text: isFit ? text : undefined, cost };
}

function run(program: Program, variables: Variables): { value?: unknown; outcome?: Outcome; cost: number } {
  meter.start(CALL_LIMIT);
  try {
    const value = program(variables);
    const cost = meter.used(CALL_LIMIT);
    return meter.isExhausted ? { outcome: { kind: 'exhausted' }, cost } : { value, cost };
  } catch (error) {
    const cost = meter.used(CALL_LIMIT);
    if (meter.isExhausted) return { outcome: { kind: 'exhausted' }, cost };
    return { outcome: { kind: 'error', error: explained(error) }, cost };
  }
}

function explained(error: unknown): string {
  const summary = error instanceof Error && 'summary' in error ? String(error.summary) : undefined;
  const text = summary ?? (error instanceof Error ? error.message : String(error));
  return text.replace(/^No such key: index/, 'index').replace(/^No such key:/, 'no such key:');
}
