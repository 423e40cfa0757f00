import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../api/json.ts';
import { deepFreeze } from '../../runtime/freeze.ts';

/**
 * The values of stored bytes, for as long as they are talked of: what is written is told to watchers, looked at by the garbage
 * collector and read by the next write, all within moments. Nobody may change them.
 */
export class SharedObjects {
  readonly #generationBytes: number;
  /** What was used lately; when it is full it becomes the older generation, and what nobody has used since then is forgotten. */
  #young = new Map<Buffer, JsonObject>();
  #old = new Map<Buffer, JsonObject>();
  #youngBytes = 0;
  #isStrict = false;

  constructor({ generationBytes }: { generationBytes: number }) {
    this.#generationBytes = generationBytes;
  }

  /** From now on whoever changes what is shared, or shares what the bytes do not say, is found out. For tests. */
  beStrict(): void {
    this.#isStrict = true;
  }

  /** `object` is what `bytes` say; it is not changed any more. */
  share(bytes: Buffer, object: JsonObject): void {
    if (this.#isStrict) {
      if (!isDeepStrictEqual(JSON.parse(bytes.toString()), object)) {
        throw new Error(`an object is not what its bytes say: ${bytes}`);
      }
      deepFreeze(object);
    }
    if (this.#youngBytes > this.#generationBytes) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(bytes, object);
    this.#youngBytes += bytes.length;
  }

  find(bytes: Buffer): JsonObject | undefined {
    const young = this.#young.get(bytes);
    if (young !== undefined) return young;
    const old = this.#old.get(bytes);
    if (old !== undefined) this.share(bytes, old);
    return old;
  }

  /** Decodes what is not known. */
  of(bytes: Buffer): JsonObject {
    const known = this.find(bytes);
    if (known !== undefined) return known;
    const object: JsonObject = JSON.parse(bytes.toString('utf8'));
    this.share(bytes, object);
    return object;
  }
}
