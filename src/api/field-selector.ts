import { badRequest } from './status.ts';

/** One term of a field selector; `==` is read as `=`. */
export interface FieldTerm {
  readonly field: string;
  readonly op: '=' | '!=';
  readonly value: string;
}

/** Reads the query parameter `fieldSelector`: `metadata.name=x,status.phase!=Active`. In values, `\`, `,` and `=` are escaped by `\`. */
export function parseFieldSelector(text: string): FieldTerm[] {
  return terms(text).map((term) => {
    const match = /^([^=!]*(?:!(?!=)[^=!]*)*)(!=|==|=)(.*)$/s.exec(term);
    if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = '', op, value = ''] = match;
    return { field, op: op === '!=' ? '!=' : '=', value: unescaped(value) };
  });
}

/** A term that is true where a field has a value, whatever is in that. */
export const fieldTerm = (field: string, value: string): string => `${field}=${value.replace(/[\\,=]/g, '\\$&')}`;

/** The parts between commas that no backslash protects. */
function terms(text: string): string[] {
  return (text.match(/(?:[^\\,]|\\.?)+/gs) ?? []).filter((term) => term !== '');
}

function unescaped(value: string): string {
  return value.replace(/\\([\s\S]?)|[,=]/g, (sequence: string, char: string | undefined) => {
    if (char === undefined) throw badRequest(`invalid field selector: unescaped character in value: ${sequence}`);
    if (char === '\\' || char === ',' || char === '=') return char;
    throw badRequest(`invalid field selector: invalid escape sequence: ${sequence}`);
  });
}
