/** Cuts lines out of the bytes of a stream, so that no character of several bytes is ever cut in two. */
export class LineCutter {
  /** The beginning of a line that has not ended yet. */
  #rest: Buffer[] = [];

  /** The lines that end in this chunk, without those that are empty. */
  *push(chunk: Buffer): IterableIterator<string> {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const line = chunk.subarray(start, end);
      const whole = this.#rest.length === 0 ? line : Buffer.concat([...this.#rest, line]);
      this.#rest = [];
      start = end + 1;
      if (whole.length > 0) yield whole.toString('utf8');
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
  }
}
