export interface RequestUri {
  readonly scheme: string;
  /** With the port and, for IPv6, the brackets; without user information. */
  readonly host: string;
  /** Still percent-encoded. */
  readonly path: string;
  readonly query: string;
}

/** An absolute URI or an absolute path, as Go's `url.ParseRequestURI` takes it; undefined for what is neither. */
export function parseRequestUri(text: string): RequestUri | undefined {
  if (text === '' || hasControl(text)) return undefined;
  if (text === '*') return { scheme: '', host: '', path: '*', query: '' };
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1] ?? '';
  const rest = scheme === '' ? text : text.slice(scheme.length + 1);
  const mark = rest.indexOf('?');
  const target = mark < 0 ? rest : rest.slice(0, mark);
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  const lower = scheme.toLowerCase();
  if (!target.startsWith('/')) return scheme === '' ? undefined : { scheme: lower, host: '', path: '', query };
  const hasAuthority = target.startsWith('//') && (scheme !== '' || !target.startsWith('///'));
  const slash = hasAuthority ? target.indexOf('/', 2) : 0;
  const authority = hasAuthority ? target.slice(2, slash < 0 ? undefined : slash) : '';
  const path = slash < 0 ? '' : target.slice(slash);
  const host = hostOf(authority);
  return host === undefined || !isEscapedWell(path) ? undefined : { scheme: lower, host, path, query };
}

/** Without port and brackets. */
export const hostnameOf = ({ host }: RequestUri): string => host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/s, '$1');
export const portOf = ({ host }: RequestUri): string => /:(\d*)$/.exec(host)?.[1] ?? '';

function hostOf(authority: string): string | undefined {
  const at = authority.lastIndexOf('@');
  const user = authority.slice(0, Math.max(at, 0));
  const host = authority.slice(at + 1);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) || !isEscapedWell(user)) return undefined;
  const isLiteral = host.startsWith('[');
  if (isLiteral ? !/^\[[^\]]*\](:\d*)?$/.test(host) : !/^[^:]*(:\d*)?$/.test(host)) return undefined;
  if (/[\s<>^`{|}\\]/.test(host) || (!isLiteral && /[[\]]/.test(host))) return undefined;
  return isEscapedWell(host) ? host : undefined;
}

const isEscapedWell = (text: string): boolean => !/%(?![0-9A-Fa-f]{2})/.test(text);

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char < 0x20 || char === 0x7f) return true;
  }
  return false;
}
