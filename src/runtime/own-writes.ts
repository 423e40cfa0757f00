/**
 * Tells what a pass wrote itself from what others wrote. A pass writes under the version that it was given, so the
 * versions it leads to hold nothing that it did not know: to be woken by them would double every pass, and let one
 * that fails and says so in the status run in circles.
 */
export class OwnWrites {
  /** Key → the version heard of since the pass began; its end decides what that means. */
  readonly #heard = new Map<string, string | undefined>();
  /** Key → the versions that the last pass led to and that have not been heard of. */
  readonly #written = new Map<string, readonly string[]>();

  begin(key: string): void {
    this.#heard.set(key, undefined);
  }

  /** Whether something was heard meanwhile that the pass did not write. */
  end(key: string, written: readonly string[]): boolean {
    const heard = this.#heard.get(key);
    this.#heard.delete(key);
    this.#expect(key, written);
    return heard !== undefined && !this.#take(key, heard);
  }

  /** Whether a version that is heard of wakes nobody; undefined is the end of the object, which always does. */
  isOwn(key: string, version: string | undefined): boolean {
    if (version !== undefined && this.#heard.has(key)) {
      this.#heard.set(key, version);
      return true;
    }
    return this.#take(key, version);
  }

  #take(key: string, version: string | undefined): boolean {
    const expected = this.#written.get(key) ?? [];
    const i = version === undefined ? -1 : expected.indexOf(version);
    this.#expect(key, i === -1 ? [] : expected.slice(i + 1));
    return i !== -1;
  }

  #expect(key: string, versions: readonly string[]): void {
    if (versions.length === 0) this.#written.delete(key);
    else this.#written.set(key, versions);
  }
}
