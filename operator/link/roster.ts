/**
 * The Links that there are. Each is made when it is first read, is judged against all others whenever one of them
 * changes, and ends when it is deleted.
 */
import type { Link } from './link.ts';
import { acceptedOf, type LinkRead, overlapping, ownerOf, type Served } from './links.ts';

export interface RosterOptions {
  /** All Links as last read, by name. */
  readonly reads: ReadonlyMap<string, LinkRead>;
  /** The cluster that each Link's Lease records. */
  readonly served: Served;
  /** Makes the Link of a name. It is used until the Link is deleted. */
  readonly makeLink: (name: string) => Link;
}

export class Roster {
  readonly #options: RosterOptions;
  readonly #links = new Map<string, Link>();
  /** Links whose names for mirrors overlap with those of each Link, as it reports them. */
  readonly #overlaps = new Map<string, string>();

  constructor(options: RosterOptions) {
    this.#options = options;
  }

  /** Returns the Link of a name, if it has been used and is not deleted. */
  get(name: string): Link | undefined {
    return this.#links.get(name);
  }

  /** Returns the Link of a name, which is made if there is none yet. */
  of(name: string): Link {
    const link = this.#links.get(name) ?? this.#options.makeLink(name);
    this.#links.set(name, link);
    return link;
  }

  /** Handles a Link that was created, changed or deleted, and has been read. */
  changed(name: string): void {
    const { reads } = this.#options;
    if (reads.has(name)) this.#judge(name);
    else {
      void this.#links.get(name)?.end();
      this.#links.delete(name);
      this.#overlaps.delete(name);
    }
    for (const [other, read] of reads) {
      if (this.#overlapsOf(read).join() !== (this.#overlaps.get(other) ?? '')) this.#judge(other);
    }
  }

  /** Judges the Links that name a cluster, which another may have now. */
  judge(cluster: string): void {
    for (const { name, named } of this.#options.reads.values()) if (named === cluster) this.#judge(name);
  }

  /** Handles that Links were listed anew. */
  listed(): void {
    for (const link of this.#links.values()) link.listed();
  }

  /** Has the status of a Link written if it has changed; undefined for that of each. */
  statusChanged(name?: string): void {
    const links = name === undefined ? this.#links.values() : [this.#links.get(name)];
    for (const link of links) link?.statusChanged();
  }

  /** Ends all Links: nothing is reported any more once this resolves. */
  async end(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.end()));
  }

  /** Sets whether a Link is accepted. */
  #judge(name: string): void {
    const { reads, served } = this.#options;
    const read = reads.get(name);
    if (read === undefined) return;
    const cluster = read.settings?.cluster;
    const owner = cluster === undefined ? undefined : ownerOf(cluster, reads.values(), served);
    const overlaps = this.#overlapsOf(read);
    this.#overlaps.set(name, overlaps.join());
    this.of(name).accept(acceptedOf(read, owner, overlaps), cluster);
  }

  #overlapsOf(read: LinkRead): readonly string[] {
    return overlapping(read, this.#options.reads.values());
  }
}
