/**
 * Keeps one {@link Link} for each Link of the source cluster, until that Link is deleted. Whether a Link is accepted
 * depends on all other Links. The roster decides this when the Link is read, and again when a change of another Link
 * might alter the result.
 */
import type { Link } from './link.ts';
import { acceptedOf, formerOf, type LinkRead, overlapping, ownerOf, type Served } from './links.ts';

export interface RosterOptions {
  /** All Links as last read. Key: name of the Link. */
  readonly reads: ReadonlyMap<string, LinkRead>;
  /** The cluster that each Link's Lease records. Key: name of the Link. */
  readonly served: Served;
  /** Creates a {@link Link} with this name. It is used until the Link of this name is deleted. */
  readonly makeLink: (name: string) => Link;
}

export class Roster {
  readonly #options: RosterOptions;
  readonly #links = new Map<string, Link>();
  /**
   * For each Link, the names of its {@link overlapping} Links, joined by commas, as they were when the roster last
   * decided whether the Link is accepted.
   */
  readonly #overlaps = new Map<string, string>();

  constructor(options: RosterOptions) {
    this.#options = options;
  }

  /** Returns the {@link Link} of this name; undefined if none was created, or if the Link is deleted. */
  get(name: string): Link | undefined {
    return this.#links.get(name);
  }

  /** Returns the {@link Link} of this name. Creates it if there is none. */
  of(name: string): Link {
    const link = this.#links.get(name) ?? this.#options.makeLink(name);
    this.#links.set(name, link);
    return link;
  }

  /** Called when a Link was created, changed or deleted. The option `reads` already shows the change. */
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

  /**
   * Decides anew which of the Links that name a cluster, or whose Leases record it, are accepted. Called when another
   * Link might have the cluster now, or when what these Links wait for might have changed.
   */
  judge(cluster: string): void {
    const { reads, served } = this.#options;
    for (const { name, named } of reads.values())
      if (named === cluster || served.get(name) === cluster) this.#judge(name);
  }

  /** Called when Links were listed anew. */
  listed(): void {
    for (const link of this.#links.values()) link.listed();
  }

  /**
   * Schedules a write of the status of a Link. Called when the status might have changed.
   * @param name name of the Link; undefined for all Links
   */
  statusChanged(name?: string): void {
    const links = name === undefined ? this.#links.values() : [this.#links.get(name)];
    for (const link of links) link?.statusChanged();
  }

  /** Ends the reporting for all Links. Once this resolves, no status, Event or metric of a Link is written any more. */
  async end(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.end()));
  }

  /** Decides whether a Link is accepted, given all other Links. */
  #judge(name: string): void {
    const { reads, served } = this.#options;
    const read = reads.get(name);
    if (read === undefined) return;
    const cluster = read.settings?.cluster;
    const owner = cluster === undefined ? undefined : ownerOf(cluster, reads.values(), served);
    const overlaps = this.#overlapsOf(read);
    this.#overlaps.set(name, overlaps.join());
    this.of(name).accept(acceptedOf(read, owner, overlaps, formerOf(read, reads, served)), cluster);
  }

  #overlapsOf(read: LinkRead): readonly string[] {
    return overlapping(read, this.#options.reads.values());
  }
}
