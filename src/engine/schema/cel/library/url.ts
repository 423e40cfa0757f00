import type { Environment } from '@marcbachmann/cel-js';
import type { RequestUri } from '../../request-uri.ts';
import { hostnameOf, parseRequestUri, portOf } from '../../request-uri.ts';
import { definer } from './define.ts';

/** `url()` and its parts. */
export function registerUrl(env: Environment): void {
  env.registerType('kubernetes.URL', Url);
  const define = definer(env);
  env.registerOperator('kubernetes.URL == kubernetes.URL', (a: Url, b: Url) => a.text === b.text);

  define('url(string): kubernetes.URL', (text: string) => {
    const uri = parseUrl(text);
    if (uri === undefined) {
      throw new Error(
        `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
      );
    }
    return new Url(text, uri);
  });
  define('isURL(string): bool', (text: string) => parseUrl(text) !== undefined);
  define('kubernetes.URL.getScheme(): string', (url: Url) => url.uri.scheme);
  define('kubernetes.URL.getHost(): string', (url: Url) => url.uri.host);
  define('kubernetes.URL.getHostname(): string', (url: Url) => hostnameOf(url.uri));
  define('kubernetes.URL.getPort(): string', (url: Url) => portOf(url.uri));
  define('kubernetes.URL.getEscapedPath(): string', (url: Url) => escapedPath(url.uri.path));
  define('kubernetes.URL.getQuery(): map<string, list<string>>', (url: Url) => query(url.uri.query));
}

class Url {
  readonly text: string;
  readonly uri: RequestUri;
  constructor(text: string, uri: RequestUri) {
    this.text = text;
    this.uri = uri;
  }
  toString(): string {
    return this.text;
  }
}

/** A fragment belongs to neither path nor query. */
const parseUrl = (text: string): RequestUri | undefined =>
  parseRequestUri(text) === undefined ? undefined : parseRequestUri(text.replace(/(.)#.*$/s, '$1'));

const escapedPath = (path: string): string =>
  path.replace(/[^A-Za-z0-9\-_.~!$&'()*+,;=:@/%[\]]/gu, (char) => encodeURIComponent(char));

function query(text: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const part of text.split('&')) {
    if (part === '' || part.includes(';')) continue;
    const mark = part.indexOf('=');
    const name = decoded(mark < 0 ? part : part.slice(0, mark));
    const value = decoded(mark < 0 ? '' : part.slice(mark + 1));
    if (name === undefined || value === undefined) continue;
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return values;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
