import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import type { Kind } from '../../api/kind.ts';
import { refusal } from '../../runtime/refusal.ts';
import type { Transport } from '../../runtime/transport.ts';
import { CommandError } from '../command.ts';
import { suggestion } from '../nearest.ts';

/** A kind as the server describes it. */
export interface ServedKind extends Kind {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** What the server serves, asked for once. */
export class ServedKinds {
  readonly #kinds: readonly ServedKind[];

  private constructor(kinds: readonly ServedKind[]) {
    this.#kinds = kinds;
  }

  static async discover(transport: Transport): Promise<ServedKinds> {
    const documents = await Promise.all(['/api', '/apis'].map((path) => read(transport, path)));
    return new ServedKinds(documents.flatMap(kindsIn));
  }

  /** By plural, singular, short name or Kind, in any case; `plural.group` tells two of the same name apart. */
  named(word: string): ServedKind {
    const wanted = word.toLowerCase();
    const found = this.#kinds.find((kind) => namesOf(kind).includes(wanted));
    if (found !== undefined) return found;
    throw new CommandError(`the server has no resource "${word}".${suggestion(wanted, this.#kinds.flatMap(namesOf))}`);
  }

  /** The kind that a manifest says it is of. */
  of(apiVersion: string, kind: string): ServedKind | undefined {
    const [first = '', second] = apiVersion.split('/');
    const [group, version] = second === undefined ? ['', first] : [first, second];
    return this.#kinds.find((each) => each.group === group && each.version === version && each.kind === kind);
  }

  inCategory(category: string): ServedKind[] {
    return this.#kinds.filter((kind) => kind.categories.includes(category));
  }
}

const namesOf = ({ plural, singular, shortNames, kind, group }: ServedKind): string[] => {
  const names = [plural, singular, kind.toLowerCase(), ...shortNames];
  return group === '' ? names : [...names, `${plural}.${group}`];
};

/** `plural.group`, as people know it from kubectl. */
export const qualifiedName = ({ plural, group }: Kind): string => (group === '' ? plural : `${plural}.${group}`);
/** `kind.group/name`. */
export const objectName = ({ kind, group }: Kind, name: string): string =>
  `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${name}`;

async function read(transport: Transport, path: string): Promise<JsonObject> {
  const answer = await transport.request({ method: 'GET', path, accept: AGGREGATED });
  if (answer.status >= 400) throw refusal(answer.status, answer.body);
  return answer.body;
}

/** The preferred version of each kind comes first in the document. */
function kindsIn(document: JsonObject): ServedKind[] {
  return objects(document['items']).flatMap((group) =>
    objects(group['versions']).flatMap((version) =>
      objects(version['resources']).map((resource): ServedKind => {
        const kind = isJsonObject(resource['responseKind']) ? resource['responseKind'] : {};
        const metadata = isJsonObject(group['metadata']) ? group['metadata'] : {};
        return {
          group: text(metadata['name']),
          version: text(version['version']),
          kind: text(kind['kind']),
          plural: text(resource['resource']),
          singular: text(resource['singularResource']),
          shortNames: texts(resource['shortNames']),
          categories: texts(resource['categories']),
          namespaced: resource['scope'] === 'Namespaced',
        };
      }),
    ),
  );
}

const objects = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
