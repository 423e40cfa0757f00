/** A piece of TypeScript source that is neither a comment nor white space. */
export interface Token {
  /** `text` is what stands between slashes, or in a template. */
  readonly kind: 'word' | 'string' | 'text' | 'punctuation';
  /** As written; of a string or text without what delimits it. */
  readonly text: string;
  readonly line: number;
}

/**
 * Splits source far enough for the rules in this folder: they must not be fooled by what only looks like code inside
 * a comment, a string or a regular expression. What stands in the `${}` of a template is code again.
 */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  /** For every `{` that is open: whether it was the `${` of a template. */
  const open: boolean[] = [];
  let line = 1;
  let at = 0;

  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0] ?? '';
    at += text.length;
    return text;
  };
  const add = (kind: Token['kind'], text: string) => tokens.push({ kind, text, line });
  /** From behind a backtick, or behind the `}` that ends a substitution, to the end or to the next substitution. */
  const takeTemplate = () => {
    const text = take(templateText);
    add('text', text.replace(/(?:`|\$\{)$/, ''));
    if (text.endsWith('${')) open.push(true);
    return text;
  };

  while (at < source.length) {
    const space = take(spaceOrComment);
    if (space !== '') {
      line += lineBreaks(space);
      continue;
    }
    const character = source[at] ?? '';
    let text = '';
    if (wordStart.test(character)) {
      text = take(word);
      add('word', text);
    } else if (character === "'" || character === '"') {
      text = take(quoted);
      add('string', text.slice(1, -1));
    } else if (character === '/' && regexMayFollow(tokens.at(-1))) {
      text = take(regex);
      add('text', text.slice(1, -1));
    } else {
      at += 1;
      if (character === '{') open.push(false);
      if (character === '`' || (character === '}' && open.pop() === true)) text = takeTemplate();
      else add('punctuation', character);
    }
    line += lineBreaks(text);
  }
  return tokens;
}

const spaceOrComment = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y;
const wordStart = /[\p{ID_Start}\p{Nd}$_#@]/u;
const word = /[\p{ID_Continue}$#@]+/uy;
const quoted = /'(?:[^'\\\n]|\\[\s\S])*'?|"(?:[^"\\\n]|\\[\s\S])*"?/y;
const regex = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])*\/?/y;
const templateText = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)?/y;

/** A slash divides behind a value, and begins a regular expression anywhere else. */
function regexMayFollow(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === 'word')
    return /^(?:return|typeof|case|in|of|do|else|void|delete|await|yield|throw|new)$/.test(before.text);
  return before.kind === 'punctuation' && ![')', ']', '}'].includes(before.text);
}

function lineBreaks(text: string): number {
  return text.split('\n').length - 1;
}
