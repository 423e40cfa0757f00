/** The texts in the values of `Warning` headers: `299 - "one", 299 - "another"`. */
export function warningTexts(values: readonly string[]): string[] {
  return values.flatMap((value) => [...value.matchAll(WARNING)].map((match) => unescaped(match[1] ?? '')));
}

/** Code, agent, and the text in quotes; a date may follow and is of no interest. */
const WARNING = /\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g;

const unescaped = (text: string): string => text.replace(/\\(.)/g, '$1');
