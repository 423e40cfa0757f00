/** Why a request is not served, in a kubelet's words, and as the answer to it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
