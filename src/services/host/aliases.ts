import { parseAnswers, questionFor } from './dns-answers.ts';
import { CODES, type DnsRecord, type Question, type Reply, TYPES } from './dns-message.ts';

export interface Knowledge {
  /** What we answer ourselves. */
  readonly own: (question: Question) => Reply | undefined;
  /** What others answer; undefined when nobody does. */
  readonly others: (message: Buffer, way: 'udp' | 'tcp') => Promise<Buffer | undefined>;
}

/** Names may stand for each other in a circle. */
const MOST_HOPS = 8;

/**
 * Goes on from a name that stands for another one: programs on Linux take what they get, and do not ask for the other name by
 * themselves. An end that nobody knows is a failure and not "no such record", so that it is asked for again.
 */
export async function followAliases(question: Question, reply: Reply, { own, others }: Knowledge): Promise<Reply> {
  const { type } = question;
  const answers = [...reply.answers];
  let code = reply.code;
  let { authority } = reply;
  for (let hops = 0; ; hops += 1) {
    const target = openEnd(answers, type);
    if (target === undefined) return { ...reply, code, answers, ...(authority === undefined ? {} : { authority }) };
    if (hops === MOST_HOPS) return FAILURE;
    const known = own({ ...question, name: target });
    if (known === undefined) {
      const found = await ask(target, type, others);
      if (found === undefined) return FAILURE;
      return { ...reply, code: found.code, answers: [...answers, ...found.records] };
    }
    answers.push(...known.answers);
    ({ code, authority } = known);
    if (known.answers.length === 0) return { code, answers, ...(authority === undefined ? {} : { authority }) };
  }
}

const FAILURE: Reply = { code: CODES.serverFailure, answers: [] };

/** The name that the answers so far end with, when what was asked for is still to be found. */
function openEnd(answers: readonly DnsRecord[], type: number): string | undefined {
  const last = answers.at(-1);
  return last?.type === 'CNAME' && (type === TYPES.A || type === TYPES.AAAA) ? last.target : undefined;
}

async function ask(name: string, type: number, others: Knowledge['others']) {
  const message = questionFor(name, type);
  for (const way of ['udp', 'tcp'] as const) {
    const answer = await others(message, way);
    const found = answer === undefined ? undefined : parseAnswers(answer);
    if (found === undefined) return undefined;
    if (!found.isCut || way === 'tcp') return found;
  }
  return undefined;
}
