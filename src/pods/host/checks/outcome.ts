/** How a probe or a hook went; the message is what it said, for people. */
export interface Outcome {
  readonly ok: boolean;
  readonly message: string;
}

export const passed = (message = ''): Outcome => ({ ok: true, message });
export const failed = (message: string): Outcome => ({ ok: false, message });

/** No more than this of what is said to us. */
export const LONGEST_OUTPUT = 10 * 1024;
