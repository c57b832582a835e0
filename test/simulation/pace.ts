/**
 * Rule E11: whatever a server answers, and however often, it is not asked again and again without a pause. Counted are
 * lists and watches of one kind and selection by one process.
 */

/** Time over which requests are counted. */
const PERIOD_MS = 10_000;
/**
 * Most requests in that time: two for each try, and tries a third of a second apart. One reader's are soon seconds apart,
 * but a change of the Link or of its credentials begins anew, and so does each of the two readers that can have the same
 * selection: that of Services that join federated Services, and that of exports by the MCS API.
 */
const MOST = 60;

export class Pace {
  readonly #complain: (what: string) => void;
  /** When each was asked for, in the last period. */
  readonly #askedMs = new Map<string, number[]>();

  constructor(complain: (what: string) => void) {
    this.#complain = complain;
  }

  /** A process sent a request to the server of a cluster. */
  asked(
    process: string,
    cluster: string,
    { method, url }: { readonly method: string; readonly url: string },
    now: number,
  ): void {
    if (method !== 'GET') return;
    const [path = '', query = ''] = url.split('?');
    if (query === '') return;
    const parameters = query.split('&').filter((each) => each.includes('Selector='));
    const key = `${process} ${cluster} ${path} ${parameters.join('&')}`;
    const asked = this.#askedMs.get(key) ?? [];
    this.#askedMs.set(key, asked);
    asked.push(now);
    while (asked[0]! < now - PERIOD_MS) asked.shift();
    if (asked.length > MOST)
      this.#complain(`${process} asked ${cluster} for ${path} ${asked.length} times in 10 s (E11)`);
  }
}
