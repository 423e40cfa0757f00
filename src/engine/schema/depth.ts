/**
 * No value goes deeper than this: bodies that do are refused where they come in. Everything that walks a value may
 * therefore recurse; it still stops here, for values that came another way.
 */
export const MAX_DEPTH = 400;
