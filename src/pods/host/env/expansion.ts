/**
 * `$(NAME)` becomes the value of a variable, as in commands and values of containers. What names no variable stays as it is;
 * `$$` is a dollar sign, so `$$(NAME)` is the text `$(NAME)`.
 */
export const expanded = (text: string, lookUp: (name: string) => string | undefined): string =>
  text.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : (lookUp(name) ?? whole),
  );

/** The names that a text refers to. */
export function namesIn(text: string): string[] {
  const names: string[] = [];
  expanded(text, (name) => {
    names.push(name);
    return undefined;
  });
  return names;
}
