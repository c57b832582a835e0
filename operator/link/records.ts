/**
 * The cluster that each Link's Lease records (rules E5, E9). After a restart, or after the source cluster was restored
 * from a backup, mirrors of deleted Links might be left. The operator learns the clusters of such mirrors only from the
 * Leases of these Links.
 */
import { Annotation, linkOfWriteLease, writeLeaseName } from '../../crds/wire.ts';
import type { KubeClient } from '../kube/client.ts';
import { isNotFound, unlessNotFound } from '../kube/errors.ts';
import { type Lease, LEASES } from '../kube/objects.ts';
import { fenced } from '../runtime/fence.ts';
import type { SharedEnvironment } from '../served/environment.ts';
import type { LinkRead, Served } from './links.ts';
import { type LastServed, readServedSpec } from './lease/served-spec.ts';

/** The part of the environment that is needed to read, write and delete Leases. */
type LeaseEnvironment = Pick<SharedEnvironment, 'client' | 'config' | 'mayWrite' | 'hasCeased'>;

export class Records {
  readonly #env: LeaseEnvironment;
  readonly #served: Map<string, string>;

  /** @param served the cluster that each Link's Lease recorded when the operator started. Key: name of the Link */
  constructor(served: Served, env: LeaseEnvironment) {
    this.#served = new Map(served);
    this.#env = env;
  }

  /** The cluster that each Link's Lease records, or will record once the Lease is acquired. Key: name of the Link. */
  get served(): Served {
    return this.#served;
  }

  /** Notes that a Link's Lease records a cluster, or will record it once the Lease is acquired. */
  set(link: string, cluster: string): void {
    this.#served.set(link, cluster);
  }

  /** Forgets which cluster a Link's Lease records. Called when the removal of that cluster's mirrors is complete. */
  delete(link: string): void {
    this.#served.delete(link);
  }

  /**
   * Adds the record of each Lease whose record was not known before, for example after a restore of the source cluster
   * from a backup.
   * @param served the cluster that each Lease records now. Key: name of the Link
   * @returns the clusters of the added records
   */
  recall(served: Served): readonly string[] {
    const unknown = [...served].filter(([link]) => !this.#served.has(link));
    for (const [link, cluster] of unknown) this.#served.set(link, cluster);
    return unknown.map(([, cluster]) => cluster);
  }

  /**
   * Deletes Leases that record a cluster, but belong to Links other than the one that has the cluster now. Forgets the
   * records of these Leases.
   * @param owner name of the Link that has the cluster now
   * @param isDue reports whether the Lease of another Link is deleted now. Its argument is the name of that Link
   * @yields the name of each Link for which `isDue` returned true. The Lease of such a Link stays if somebody else
   *   holds it
   * @throws ApiError or ConnectionError if a Lease cannot be read or deleted
   */
  async *forgetOthers(
    cluster: string,
    owner: string,
    isDue: (link: string) => boolean,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    for (const [link, of] of [...this.#served]) {
      if (of !== cluster || link === owner || !isDue(link)) continue;
      await this.forget(link, signal);
      yield link;
    }
  }

  /**
   * Reports whether a person removed a Link with `linkspan unlink`. The removal of an earlier Link of the same name
   * does not count. False if there is no Lease.
   * @param goneMs when the operator found the Link deleted, in milliseconds since the epoch; undefined if the Link's
   *   cluster has no session. A session goes on renewing the Lease after the Link is deleted. If the Lease was renewed
   *   after the removal was recorded, only `goneMs` shows whether the record is about this Link
   * @throws ApiError or ConnectionError if the Lease cannot be read
   */
  async isUnlinked(link: string, goneMs: number | undefined, signal: AbortSignal): Promise<boolean> {
    const { client, config } = this.#env;
    try {
      return wasUnlinked(await client.read<Lease>(LEASES, config.namespace, writeLeaseName(link), signal), goneMs);
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /**
   * Returns the spec by which a Link was last served for a cluster, and the settings that were read from this spec.
   * Used for a Link that is invalid now, or counts as invalid because it exchanges clusters with other Links
   * (exchanged.ts). Undefined if the Link has no Lease, or if its Lease does not record such a spec.
   * @throws ApiError or ConnectionError if the Lease cannot be read
   */
  async lastServed(link: LinkRead, cluster: string, signal: AbortSignal): Promise<LastServed | undefined> {
    const { client, config } = this.#env;
    const name = writeLeaseName(link.name);
    const lease = await client.read<Lease>(LEASES, config.namespace, name, signal).catch(unlessNotFound);
    return lease && readServedSpec(lease, link, cluster);
  }

  /**
   * Removes the user's confirmation of deletions from the Lease of a suspended Link. While the Link is suspended, the
   * operator does not see Services come back and vanish again, and one confirmation must not confirm a second loss
   * (rule E6). A Lease that somebody else holds stays unchanged, because the operator no longer reads the confirmation
   * from such a Lease.
   * @throws ApiError or ConnectionError if the Lease cannot be read or written
   */
  async revokeConfirmation(link: string, signal: AbortSignal): Promise<void> {
    const { client, config, mayWrite } = this.#env;
    const name = writeLeaseName(link);
    const lease = await client.read<Lease>(LEASES, config.namespace, name, signal).catch(unlessNotFound);
    if (lease === undefined || isAnothers(lease, this.#env)) return;
    const { [Annotation.confirmed]: confirmed, ...annotations } = lease.metadata.annotations ?? {};
    if (confirmed === undefined) return;
    const revoked = { ...lease, metadata: { ...lease.metadata, annotations } };
    await fenced(client, mayWrite).replace(LEASES, revoked, signal);
  }

  /**
   * Deletes the Lease of a Link, and forgets the cluster that it records. A Lease that somebody else holds stays, but
   * its cluster is forgotten all the same.
   * @throws ApiError or ConnectionError if the Lease cannot be read or deleted
   */
  async forget(link: string, signal: AbortSignal): Promise<void> {
    const cluster = this.#served.get(link);
    await forgetLease(link, this.#env, signal);
    if (this.#served.get(link) === cluster) this.#served.delete(link);
  }
}

/**
 * Longest time, in milliseconds, from the time that `linkspan unlink` records on a Link's Lease to the time at which
 * the operator finds the Link deleted. The command deletes the Link shortly after the recorded time. The limit also
 * leaves room for a difference between the clocks of the command and the operator.
 */
const UNLINKING_MS = 60_000;

/**
 * Reports whether a Lease says that a person removed its Link with `linkspan unlink`. The Lease notes when. False if the
 * note is about an earlier Link of the same name, which is assumed if both of these are true:
 * - The Lease was renewed at or after the noted time.
 * - `goneMs` is undefined, or at least {@link UNLINKING_MS} after the noted time.
 * @param goneMs as for {@link Records.isUnlinked}
 */
export function wasUnlinked({ metadata, spec }: Lease, goneMs?: number): boolean {
  const unlinkedMs = Date.parse(metadata.annotations?.[Annotation.unlinked] ?? '');
  if (Number.isNaN(unlinkedMs)) return false;
  const renewedMs = Date.parse(spec?.renewTime ?? '');
  const isOfThisLink = goneMs !== undefined && unlinkedMs > goneMs - UNLINKING_MS;
  return isOfThisLink || Number.isNaN(renewedMs) || renewedMs < unlinkedMs;
}

/**
 * Returns the cluster that each Lease records. Key: name of the Link.
 * @throws ApiError or ConnectionError if Leases cannot be listed
 */
export async function servedClusters(
  client: Pick<KubeClient, 'list'>,
  namespace: string,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const { items } = await client.list<Lease>(LEASES, { namespace }, signal);
  return recordedClusters(items);
}

/** Returns the cluster that each Lease of a list records. Key: name of the Link. */
export function recordedClusters(leases: readonly Lease[]): Map<string, string> {
  return new Map(
    leases.flatMap(({ metadata }) => {
      const link = linkOfWriteLease(metadata.name);
      const cluster = metadata.annotations?.[Annotation.targetCluster];
      return link === undefined || cluster === undefined ? [] : [[link, cluster] as const];
    }),
  );
}

/** Reports whether somebody else holds a Lease, and might still write. */
function isAnothers({ spec }: Lease, { config, hasCeased }: LeaseEnvironment): boolean {
  const holder = spec?.holderIdentity ?? '';
  return holder !== '' && holder !== config.identity && !hasCeased(holder);
}

/**
 * Deletes the Lease of a Link. A Lease that somebody else holds stays, unless the holder is a replica that certainly no
 * longer writes.
 * @throws ApiError or ConnectionError if the Lease cannot be read or deleted
 */
export async function forgetLease(link: string, env: LeaseEnvironment, signal: AbortSignal): Promise<void> {
  const { client, config, mayWrite } = env;
  const { namespace } = config;
  const name = writeLeaseName(link);
  try {
    const lease = await client.read<Lease>(LEASES, namespace, name, signal);
    if (isAnothers(lease, env)) return;
    const { uid, resourceVersion } = lease.metadata;
    await fenced(client, mayWrite).delete(LEASES, { namespace, name }, { uid, resourceVersion }, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
