/** Where a request goes, read from its path alone. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** Of `proxy`: what follows it, and is meant for whom the request is handed on to. */
  readonly tail: string;
  /** The deprecated `/watch/` prefix: a list that is a watch. */
  readonly isWatch: boolean;
}

/** `undefined` for a path that is not about resources: discovery, health, or nothing at all. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const proxied = /^(\/api\/v1\/nodes\/[^/]+\/proxy)(\/.*)?$/.exec(path);
  const tail = proxied?.[2] ?? '';
  const found = parseObjectPath(proxied?.[1] ?? path);
  return found === undefined ? undefined : { ...found, tail };
}

function parseObjectPath(path: string): Omit<ResourcePath, 'tail'> | undefined {
  const parts = path.split('/');
  if (parts[0] !== '' || parts.some((part, i) => i > 0 && part === '')) return undefined;
  const isCore = parts[1] === 'api';
  if (!isCore && parts[1] !== 'apis') return undefined;
  const [group, version] = isCore ? ['', parts[2]] : [parts[2], parts[3]];
  if (group === undefined || version === undefined) return undefined;
  let rest = parts.slice(isCore ? 3 : 4);
  const isWatch = rest[0] === 'watch' && rest.length > 1;
  if (isWatch) rest = rest.slice(1);
  if (rest.length === 0) return undefined;
  const base = { group, version, isWatch };
  const [first = '', second = '', third = '', fourth = '', fifth = '', ...more] = rest;
  if (more.length > 0) return undefined;
  // `namespaces/x` and its own subresources are about the namespace itself; anything longer is about what is in it.
  const isInNamespace = first === 'namespaces' && rest.length >= 3 && !(isCore && NAMESPACE_SUBRESOURCES.has(third));
  if (isInNamespace) {
    return { ...base, plural: third, namespace: second, name: fourth, subresource: fifth };
  }
  if (rest.length > 3) return undefined;
  return { ...base, plural: first, namespace: '', name: second, subresource: third };
}

const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/** Whether something is there that speaks a protocol of its own: a running container, or an agent. */
export function isTunnelPath(path: string): boolean {
  const found = parseResourcePath(path);
  if (found === undefined || found.group !== '') return false;
  const { plural, subresource } = found;
  return (
    (plural === 'pods' && ['attach', 'exec', 'portforward'].includes(subresource)) ||
    (plural === 'nodes' && subresource === 'proxy')
  );
}

/** The path without its percent signs. */
export function decodedPath(raw: string): string {
  if (!raw.includes('%')) return raw;
  try {
    // A slash that comes encoded is part of a name, and no name may hold one: it stays encoded and is refused there.
    return raw
      .split('/')
      .map((part) => decodeURIComponent(part).replaceAll('/', '%2F'))
      .join('/');
  } catch {
    return raw;
  }
}
