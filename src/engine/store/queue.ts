/** First in, first out, with a look at any place; the front is given back to memory now and then, not on every shift. */
export class Queue<T extends object> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  at(index: number): T | undefined {
    return this.#items[this.#head + index];
  }

  sliceFrom(index: number): T[] {
    return this.#items.slice(this.#head + index).filter((item) => item !== undefined);
  }
}
