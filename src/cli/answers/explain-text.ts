import { ago } from './ago.ts';
import type { ExplainAnswer } from './explain-answer.ts';
import { type Finding, remediesOf } from './finding.ts';

/** An answer for people. `now`: milliseconds since 1970. */
export function explainText(answer: ExplainAnswer, now: number): string {
  const { says, ready, findings, conditions, events } = answer;
  const problems = findings.filter(({ severity }) => severity === 'problem');
  const notes = findings.filter(({ severity }) => severity === 'note');
  return [
    says,
    ...section(ready === true ? 'But' : 'Why', problems.flatMap(chain)),
    ...section('Worth knowing', notes.flatMap(chain)),
    ...section(
      'Conditions',
      conditions.map(({ type, status, reason, message, lastTransitionTime }) => {
        const why = [reason, message].filter((text) => text !== undefined && text !== '').join(': ');
        return `  ${type.padEnd(20)} ${status.padEnd(8)} ${why} (${ago(lastTransitionTime, now)})`;
      }),
    ),
    ...section(
      'Events',
      events.map(
        ({ time, type, reason, message, count }) =>
          `  ${ago(time, now).padEnd(15)} ${type.padEnd(8)} ${reason}: ${message}${count > 1 ? ` (${count} times)` : ''}`,
      ),
    ),
  ]
    .map(oneLine)
    .join('\n');
}

/** Messages are written by others: line breaks would tear the lists apart, and a terminal obeys other control characters. */
const oneLine = (line: string): string => line.replace(/\p{Cc}+/gu, ' ');

const section = (title: string, content: readonly string[]): string[] =>
  content.length === 0 ? [] : ['', `${title}:`, ...content];

/** What was found, what is behind it, and what would help: one of the arrows is enough. */
function chain(finding: Finding): string[] {
  const remedies = remediesOf([finding]).map((remedy, i) => `    → ${i === 0 ? '' : 'or '}${remedy}`);
  return [...lines(finding), ...remedies];
}

function lines({ says, because }: Finding): string[] {
  return [`  ${says}`, ...because.flatMap(lines).map((line) => `  ${line}`)];
}
