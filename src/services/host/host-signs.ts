/** So many questions in a row that stay without an answer make a host silent. */
const MISSED = 3;
/** So many answers in a row end its silence: one may have been under way for long. */
const HEARD = 2;

/**
 * Judges from answers to regular questions which hosts are silent. One that has never answered is not judged: perhaps something
 * between us swallows questions, and nothing else.
 */
export class HostSigns {
  readonly #signs = new Map<string, Sign>();

  isSilent(host: string): boolean {
    return this.#signs.get(host)?.isSilent === true;
  }

  forget(host: string): void {
    this.#signs.delete(host);
  }

  /**
   * To be told once for every question.
   * @returns whether the judgement has changed
   */
  tell(host: string, hasAnswered: boolean): boolean {
    const sign = this.#signs.get(host) ?? { inARow: 0, isKnown: false, isSilent: false };
    this.#signs.set(host, sign);
    if (hasAnswered === sign.inARow > 0) sign.inARow += hasAnswered ? 1 : -1;
    else sign.inARow = hasAnswered ? 1 : -1;
    sign.isKnown ||= hasAnswered;
    const before = sign.isSilent;
    if (sign.inARow >= HEARD) sign.isSilent = false;
    else if (sign.isKnown && sign.inARow <= -MISSED) sign.isSilent = true;
    return sign.isSilent !== before;
  }
}

interface Sign {
  /** Answers in a row; below zero, questions in a row without one. */
  inARow: number;
  isKnown: boolean;
  isSilent: boolean;
}
