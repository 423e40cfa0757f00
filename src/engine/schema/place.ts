import { dotted } from './path-list.ts';

/** Where in an object a walk is. Written as text only when there is something to say. */
export class Place {
  readonly #segments: (string | number)[] = [];
  readonly #isKey: boolean[] = [];

  enterField(name: string): void {
    this.#segments.push(name);
    this.#isKey.push(false);
  }
  /** A key that people chose, in a map. */
  enterKey(key: string): void {
    this.#segments.push(key);
    this.#isKey.push(true);
  }
  enterItem(index: number): void {
    this.#segments.push(index);
    this.#isKey.push(false);
  }
  leave(): void {
    this.#segments.pop();
    this.#isKey.pop();
  }

  get depth(): number {
    return this.#segments.length;
  }

  /** As the schema checks of kube-apiserver write it: `spec.labels.app`. */
  get dotted(): string {
    return dotted(this.#segments);
  }

  /** As its other checks write it, with the keys of maps in brackets: `spec.labels[app]`. The whole object is `<nil>`. */
  bracketed(...below: readonly string[]): string {
    let path = '';
    this.#segments.forEach((segment, i) => {
      if (typeof segment === 'number' || this.#isKey[i] === true) path += `[${segment}]`;
      else path += path === '' ? segment : `.${segment}`;
    });
    for (const name of below) path += path === '' ? name : `.${name}`;
    return path === '' ? NOWHERE : path;
  }
}

/** What kube-apiserver writes for a fault that is about no field in particular. */
export const NOWHERE = '<nil>';
