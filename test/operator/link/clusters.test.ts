import { FairSemaphore } from '../../../operator/kube/semaphore.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Annotation } from '../../../crds/wire.ts';
import { parseOperatorConfig } from '../../../operator/config/config.ts';
import { sleep } from '../../../operator/kube/backoff.ts';
import type { Verdict } from '../../../operator/kube/conditions.ts';
import type { Lease, Secret } from '../../../operator/kube/objects.ts';
import { NOTHING_KNOWN } from '../../../operator/failover/readiness.ts';
import { Clusters } from '../../../operator/link/clusters.ts';
import type { Environment } from '../../../operator/link/environment.ts';
import type { Link } from '../../../operator/link/link.ts';
import { Session } from '../../../operator/link/session.ts';
import { type LinkRead, readLinkObject } from '../../../operator/link/links.ts';
import { createMetrics } from '../../../operator/metrics/index.ts';
import { NameClaims } from '../../../operator/mirror/names.ts';
import { Interruptions } from '../../../operator/runtime/interruptions.ts';
import { link } from '../../support/builders.ts';
import { Leases } from './leases.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const leaseOf = (name: string) => `service-mirror-write-${name}`;

interface Given {
  /** `spec.targetClusterName`; @default west */
  readonly names?: string;
  readonly at?: string;
  readonly uid?: string;
  readonly valid?: boolean;
  readonly secret?: string;
  readonly suspended?: boolean;
  readonly confirmed?: string;
}

const read = (
  name: string,
  { names = 'west', at = '2026-01-01', uid = name, valid = true, secret, suspended = false, confirmed }: Given = {},
): LinkRead =>
  readLinkObject(
    link(
      name,
      {
        targetClusterName: names,
        // A valid one has no gateway: nothing is probed.
        ...(valid ? { gatewayAddress: undefined, probeSpec: undefined, selector: undefined } : { gatewayPort: 'none' }),
        ...(secret !== undefined && { clusterCredentialsSecret: secret }),
      },
      {
        uid,
        generation: 1,
        creationTimestamp: `${at}T00:00:00Z`,
        annotations: {
          ...(suspended && { [Annotation.suspended]: 'true' }),
          ...(confirmed !== undefined && { [Annotation.confirmPrune]: confirmed }),
        },
      },
    ),
  );

/** Links and their clusters, in a source cluster that has nothing but Leases, and the mirrors of `left`. */
class World {
  readonly leases = new Leases();
  readonly said: string[] = [];
  readonly accepted = new Map<string, string>();
  readonly messages = new Map<string, string>();
  readonly secretsRead: string[] = [];
  /** Mirrors whose targets are known better, or less, than before. */
  readonly changed: string[] = [];
  /** The clusters that were served when a removal began. */
  readonly servedBeside: (readonly string[])[] = [];
  /** How long the mirrors of clusters without a Link must stay. */
  holdMs = 0;
  /** How long it takes to answer that. */
  answerMs = 0;
  /** How long the writes of federated Services take that are under way when they are interrupted. */
  writingMs = 0;
  readonly interruptions = new Interruptions();
  /** By cluster: keys of its mirrors. */
  readonly left = new Map<string, readonly string[]>();
  /** Parts in ServiceImports that cannot be read. */
  kept: readonly string[] = [];
  /** Namespaces that cannot be read now. */
  readonly #unreadable: string[] = [];
  readonly #reads = new Map<string, LinkRead>();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly clusters: Clusters;

  constructor(links: readonly LinkRead[], served: Readonly<Record<string, string>> = {}) {
    for (const each of links) this.#reads.set(each.name, each);
    for (const [name, cluster] of Object.entries(served)) {
      this.leases.put(leaseOf(name), '', { 'linkspan.dev/target-cluster': cluster });
    }
    this.clusters = new Clusters({
      env: this.#environment(),
      reads: this.#reads,
      served: new Map(Object.entries(served)),
      makeLink: (name) =>
        ({
          accept: ({ reason, message }: Verdict) => {
            this.accepted.set(name, reason);
            this.messages.set(name, message);
          },
          statusChanged: () => undefined,
          cleared: () => undefined,
          event: () => undefined,
          end: () => undefined,
        }) as unknown as Link,
      secretOf: (name) => {
        this.secretsRead.push(name);
        return undefined as Secret | undefined;
      },
    });
    this.#running = this.clusters.run(this.#stop.signal);
  }

  async put(next: LinkRead): Promise<void> {
    const former = this.#reads.get(next.name)?.named;
    this.#reads.set(next.name, next);
    await this.#changed(next.name, former);
  }

  async delete(name: string): Promise<void> {
    const former = this.#reads.get(name)?.named;
    this.#reads.delete(name);
    await this.#changed(name, former);
  }

  async setReadable(namespace: string, isReadable: boolean): Promise<void> {
    if (isReadable) this.#unreadable.splice(this.#unreadable.indexOf(namespace), 1);
    else this.#unreadable.push(namespace);
    this.clusters.namespaceChanged(namespace, isReadable ? 'exists' : 'unreadable');
    await pass(0);
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await pass(10_000);
    await this.#running;
  }

  async #changed(name: string, former: string | undefined): Promise<void> {
    if (former !== undefined) this.clusters.add(former);
    this.clusters.linkChanged(name);
    await pass(0);
  }

  #environment(): Environment {
    const parsed = parseOperatorConfig({ identity: 'us' }, {});
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
    const listening = new Set<string>();
    const source = {
      services: {},
      endpoints: {},
      slices: {},
      subscribe: (cluster: string) => {
        if (listening.has(cluster)) throw new Error(`${cluster} has a listener`);
        listening.add(cluster);
        return () => void listening.delete(cluster);
      },
      ownedBy: () => ({ services: [], endpoints: [], slices: [] }),
      probesOf: () => ({ services: [], endpoints: [], slices: [] }),
      keysOf: (cluster: string) => new Set(this.left.get(cluster)),
      membershipsOf: () => new Set<string>(),
      isTaken: () => false,
      recheck: () => undefined,
      readAnew: () => Promise.resolve(true),
      namespaces: {
        stateOf: (name: string) => (this.#unreadable.includes(name) ? 'unreadable' : 'exists'),
        unreadable: this.#unreadable,
      },
    };
    const say = (fields: Readonly<Record<string, unknown>>, message: string): void => {
      if (message === 'serving the Link')
        this.said.push(`serves ${String(fields['cluster'])} by ${String(fields['link'])}`);
      if (message === 'removing the mirrors that the Link left') {
        this.said.push(`removes ${String(fields['cluster'])} of ${String(fields['link'])}`);
        this.servedBeside.push([...listening]);
      }
      if (message === 'keeping the mirrors of the cluster for the invalid Link')
        this.said.push(`keeps ${String(fields['cluster'])} for ${String(fields['link'])}`);
      if (message === 'reconcile failed') this.said.push(`failed: ${String(fields['error'])}`);
    };
    return {
      config: parsed.value,
      tuning: {},
      client: this.leases.client,
      writes: new FairSemaphore(32),
      source,
      interruptions: this.interruptions,
      federations: {
        join: () => undefined,
        leave: () => undefined,
        add: () => undefined,
        interrupt: () => sleep(this.writingMs),
        underWayOf: () => [],
      },
      imports: {
        join: () => undefined,
        leave: () => undefined,
        add: () => undefined,
        addAll: () => undefined,
        partsOf: () => new Set(this.kept),
        underWayOf: () => [],
        endingOf: () => [],
        keptOf: () => this.kept,
      },
      discovery: { has: () => true },
      failovers: { mirrorChanged: (key: string) => void this.changed.push(key) },
      presence: { holdMs: () => sleep(this.answerMs).then(() => this.holdMs) },
      families: new Set(['IPv4']),
      claims: new NameClaims(),
      mayWrite: () => true,
      hasCeased: () => false,
      metrics: createMetrics({ process: false }),
      log: { debug: say, info: say, warn: say, error: say },
    } as unknown as Environment;
  }
}

/** Runs until all is at rest. */
async function world(links: readonly LinkRead[], served: Readonly<Record<string, string>> = {}): Promise<World> {
  const made = new World(links, served);
  await pass(500);
  return made;
}

describe('a cluster (E9)', () => {
  it('is served by its Link, under the Lease of that', async () => {
    const { said, leases, accepted, end } = bound(await world([read('a')]));
    expect(said).toEqual(['serves west by a']);
    expect(leases.holders).toEqual({ [leaseOf('a')]: 'us' });
    expect(accepted.get('a')).toBe('Accepted');
    await end();
    expect(leases.holders).toEqual({ [leaseOf('a')]: '' });
  });

  it('is served once, and the loser is refused until it can have it, under a Lease that then goes', async () => {
    const { said, leases, accepted, put, end } = bound(await world([read('a'), read('b', { at: '2026-01-02' })]));
    expect([said, leases.holders]).toEqual([['serves west by a'], { [leaseOf('a')]: 'us' }]);
    expect(Object.fromEntries(accepted)).toEqual({ a: 'Accepted', b: 'DuplicateCluster' });
    await put(read('a', { names: 'east' }));
    await pass(3_000);
    expect(said.slice(1).toSorted()).toEqual(['serves east by a', 'serves west by b']);
    expect(Object.fromEntries(accepted)).toEqual({ a: 'Accepted', b: 'Accepted' });
    expect(leases.holders).toEqual({ [leaseOf('a')]: 'us', [leaseOf('b')]: 'us' });
    await end();
  });

  it('is not known at first hand while its Link is suspended: of its mirrors, slices count (H9, J3)', async () => {
    const made = await world([read('a')]);
    made.left.set('west', ['shop/web', '!probe']);
    const isServed = () => made.clusters.knowledge('west', 'shop/web') !== undefined;
    expect(isServed()).toBe(true);
    await made.put(read('a', { suspended: true }));
    await pass(1_000);
    expect([isServed(), made.changed]).toEqual([false, ['shop/web-west']]);
    await made.put(read('a'));
    await pass(1_000);
    expect(isServed()).toBe(true);
    await made.end();
  });

  it.each([
    ['is invalid and never was served', { valid: false }, {}, [false, false]],
    [
      'is invalid when the operator starts, and its Lease records no spec',
      { valid: false },
      { a: 'west' },
      [true, false],
    ],
    ['is about to be served', {}, {}, [true, true]],
  ])('is known at first hand, or is not, if its Link %s', async (_, given, served, isKnown) => {
    const made = new World([read('a', given)], served);
    const isHeard = (): boolean => made.clusters.knowledge('west', 'shop/web') !== undefined;
    const atFirst = isHeard();
    await pass(500);
    expect([atFirst, isHeard()]).toEqual(isKnown);
    await made.end();
  });

  it('whose name is the end of another warns both of their Links, for as long as there are both (A7)', async () => {
    const made = await world([read('a', { names: 'west' })]);
    const warned = () => [...made.messages].filter(([, message]) => message !== '').map(([name]) => name);
    expect(warned()).toEqual([]);
    await made.put(read('b', { names: 'us-west' }));
    expect(warned().toSorted()).toEqual(['a', 'b']);
    await made.put(read('b', { names: 'east' }));
    expect(warned()).toEqual([]);
    await made.put(read('b', { names: 'us-west' }));
    await made.delete('a');
    expect(made.messages.get('b')).toBe('');
    await made.end();
  });

  it('changes hands when the former session has stopped and released its Lease', async () => {
    const made = await world([read('a'), read('b', { at: '2026-01-02' })]);
    const { said, leases, end } = bound(made);
    leases.changeMs = 1_000;
    await made.delete('a');
    await pass(900);
    expect([said, leases.holders]).toEqual([['serves west by a'], { [leaseOf('a')]: 'us' }]);
    leases.changeMs = 0;
    await pass(1_000);
    expect(said).toEqual(['serves west by a', 'serves west by b']);
    await end();
  });

  it('is recorded by the Lease of the former Link until that of the next records it, and then no more', async () => {
    const made = await world([read('a'), read('b', { at: '2026-01-02' })]);
    const { leases, end } = bound(made);
    leases.put(leaseOf('b'), '');
    leases.changeMs = 1_000;
    await made.delete('a');
    await pass(1_900);
    expect(leases.holders).toEqual({ [leaseOf('a')]: '', [leaseOf('b')]: '' });
    leases.changeMs = 0;
    await pass(3_000);
    expect(leases.holders).toEqual({ [leaseOf('b')]: 'us' });
    await end();
  });

  it('is taken over from what a Lease records of another Link, which goes unless another holds it', async () => {
    const { said, leases, end } = bound(await world([read('b')], { a: 'west' }));
    expect([said, leases.holders]).toEqual([['serves west by b'], { [leaseOf('b')]: 'us' }]);
    await end();
    const made = new World([read('b')], { a: 'west' });
    made.leases.put(leaseOf('a'), 'linkerd-0');
    await pass(500);
    expect(made.leases.holders).toEqual({ [leaseOf('a')]: 'linkerd-0', [leaseOf('b')]: 'us' });
    await made.end();
  });

  it('is served anew for a Link that was deleted and made again unseen', async () => {
    const { said, leases, put, end } = bound(await world([read('a')]));
    const lease = leases.get(leaseOf('a'))?.metadata.uid;
    await put(read('a', { uid: 'other' }));
    await pass(500);
    expect(said).toEqual(['serves west by a', 'serves west by a']);
    expect(leases.get(leaseOf('a'))?.metadata.uid).toBe(lease);
    await end();
  });

  it('is not served for a Link that is deleted before the former session has stopped (L71)', async () => {
    const made = await world([read('a')]);
    made.leases.changeMs = 1_000;
    await made.put(read('a', { uid: 'other' }));
    await pass(500);
    await made.delete('a');
    await pass(4_000);
    expect(made.said).toEqual(['serves west by a', 'removes west of a']);
    await made.end();
  });

  it('is served anew for a Link that was deleted and is there again, as it was, before that was handled', async () => {
    const made = await world([read('a')]);
    await Promise.all([made.delete('a'), made.put(read('a'))]);
    await pass(500);
    expect(made.said).toEqual(['serves west by a', 'serves west by a']);
    await made.end();
  });

  it('is served only when the cluster that a restored Lease records has been left', async () => {
    const { said, servedBeside, leases, end } = bound(await world([read('a')]));
    leases.put(leaseOf('a'), 'us', { [Annotation.targetCluster]: 'north' });
    await pass(60_000);
    expect(servedBeside).toEqual([[]]);
    expect(said).toEqual(['serves west by a', 'removes north of a', 'serves west by a']);
    expect(leases.get(leaseOf('a'))?.metadata.annotations).toMatchObject({ [Annotation.targetCluster]: 'west' });
    await end();
  });

  it('goes on by an invalid Link, and keeps it from others; one that is not served waits', async () => {
    const { said, put, end } = bound(await world([read('a'), read('b', { at: '2026-01-02' })]));
    await put(read('a', { valid: false }));
    await pass(10_000);
    expect(said).toEqual(['serves west by a']);
    await end();
  });

  it('takes the confirmation of a loss from an invalid Link, and nothing else (E6, L139)', async () => {
    const made = await world([read('a', { confirmed: 'former' })]);
    const update = vi.spyOn(Session.prototype, 'update');
    for (const confirmed of [{ confirmed: 'former' }, { confirmed: 'lost' }, {}])
      await made.put(read('a', { valid: false, secret: 'other', ...confirmed }));
    const given = update.mock.calls.map(([{ confirmPrune, credentialsSecret }]) => [confirmPrune, credentialsSecret]);
    expect(given).toEqual([
      ['lost', 'cluster-credentials-a'],
      [undefined, 'cluster-credentials-a'],
    ]);
    expect(made.secretsRead).toEqual(['cluster-credentials-a']);
    await made.end();
  });

  describe('by an invalid Link, when the operator starts (E7)', () => {
    /** What the operator that served Link `a` left on its Lease. */
    const left = async (changed: Parameters<typeof read>[1] = {}): Promise<Lease> => {
      const before = await world([read('a')]);
      if (Object.keys(changed).length > 0) await before.put(read('a', changed));
      await before.end();
      return before.leases.get(leaseOf('a'))!;
    };
    const start = async (lease: Lease, link: LinkRead): Promise<World> => {
      const made = new World([link], { a: 'west' });
      made.leases.keep(lease);
      await pass(500);
      return made;
    };

    it('is served as it was, and that stays recorded', async () => {
      const lease = await left({ secret: 'other' });
      const made = await start(lease, read('a', { valid: false }));
      expect(made.said).toEqual(['serves west by a']);
      expect(made.secretsRead).toEqual(['other']);
      await made.put(read('a'));
      expect(made.said).toEqual(['serves west by a']);
      expect(made.secretsRead).toEqual(['other', 'cluster-credentials-a']);
      await made.put(read('a', { valid: false }));
      await made.end();
      const again = await start(made.leases.get(leaseOf('a'))!, read('a', { valid: false }));
      expect(again.secretsRead).toEqual(['cluster-credentials-a']);
      await again.end();
    });

    it('may have members and exports until its Lease has been read (I6, K5, L289)', async () => {
      const lease = await left();
      const ofWest = ({ clusters }: World) => [
        [...clusters.selecting],
        [...clusters.importing],
        clusters.knowledge('west', 'shop/web'),
      ];
      const unread = new World([read('a', { valid: false })], { a: 'west' });
      unread.leases.keep(lease);
      unread.leases.unreadable = true;
      await pass(500);
      expect(ofWest(unread)).toEqual([['west'], ['west'], NOTHING_KNOWN]);
      unread.said.length = 0;
      unread.leases.unreadable = false;
      await pass(60_000);
      expect([unread.said, ...ofWest(unread)].slice(0, 3)).toEqual([['serves west by a'], [], []]);
      await unread.end();
      const unknown = new World([read('a', { valid: false, uid: 'new' })], { a: 'west' });
      unknown.leases.keep(lease);
      unknown.left.set('west', ['shop/web']);
      expect(ofWest(unknown)).toEqual([['west'], ['west'], NOTHING_KNOWN]);
      await pass(500);
      expect([...ofWest(unknown), unknown.changed]).toEqual([[], [], undefined, ['shop/web-west']]);
      await unknown.end();
    });

    it('takes the confirmation of what is lost by then (E6, L139)', async () => {
      const made = await start(await left(), read('a', { valid: false, confirmed: 'former' }));
      const update = vi.spyOn(Session.prototype, 'update');
      await made.put(read('a', { valid: false, confirmed: 'lost' }));
      expect(update.mock.calls.map(([{ confirmPrune }]) => confirmPrune)).toEqual(['lost']);
      await made.end();
    });

    it('is not served by the spec of one that was deleted, nor while it is suspended', async () => {
      const lease = await left();
      for (const link of [read('a', { valid: false, uid: 'new' }), read('a', { valid: false, suspended: true })]) {
        const made = await start(lease, link);
        expect(made.said).toEqual([]);
        await made.end();
      }
    });

    it('is not served by what it was before another held its Lease', async () => {
      const { metadata, spec } = await left();
      const made = await start({ metadata, spec: { ...spec, leaseTransitions: 1 } }, read('a', { valid: false }));
      expect(made.said).toEqual([]);
      await made.end();
    });
  });

  it('is not served by the spec of a Link that was deleted, and is there again and invalid (E7)', async () => {
    const made = await world([read('a')]);
    await made.delete('a');
    await made.put(read('a', { uid: 'new', valid: false }));
    await pass(10_000);
    made.leases.put(leaseOf('a'), 'linkerd-0');
    await pass(60_000);
    // Nobody contends for its Lease.
    expect([made.said, made.leases.holders]).toEqual([['serves west by a'], { [leaseOf('a')]: 'linkerd-0' }]);
    await made.end();
  });

  it('is not served for a Link whose Lease serves another cluster until that is given up', async () => {
    const made = await world([read('a')]);
    made.left.set('west', ['shop/web']);
    await made.put(read('a', { names: 'east' }));
    await pass(10_000);
    expect(made.said).toEqual(['serves west by a', 'removes west of a']);
    made.left.clear();
    await pass(3_000);
    expect(made.said).toEqual(['serves west by a', 'removes west of a', 'serves east by a']);
    expect(made.leases.get(leaseOf('a'))?.metadata.annotations).toMatchObject({
      'linkspan.dev/target-cluster': 'east',
    });
    await made.end();
  });

  it('is served for a Link whose former cluster an invalid one names, which keeps that until it is deleted (L59)', async () => {
    const made = await world([read('a'), read('b', { valid: false, at: '2026-01-02' })]);
    made.left.set('west', ['shop/web']);
    await made.put(read('a', { names: 'east' }));
    await pass(10_000);
    expect(made.said).toEqual(['serves west by a', 'keeps west for b', 'serves east by a']);
    expect(made.leases.records).toEqual({ a: 'east', b: 'west' });
    made.left.clear();
    await made.delete('b');
    await pass(10_000);
    expect(made.said.slice(3)).toEqual(['removes west of b']);
    expect(made.leases.records).toEqual({ a: 'east' });
    await made.end();
  });

  it('that an invalid Link keeps is served for that once it is valid (E7)', async () => {
    const made = await world([read('b', { valid: false })], { a: 'west' });
    await made.put(read('b'));
    await pass(1_000);
    expect(made.said).toEqual(['keeps west for b', 'serves west by b']);
    expect(made.leases.records).toEqual({ b: 'west' });
    await made.end();
  });

  it('is recorded by what a Link left while another controller holds the Lease of the next (L60)', async () => {
    const made = new World([read('b')], { a: 'west' });
    made.leases.put(leaseOf('b'), 'linkerd-0');
    await pass(10_000);
    expect(made.leases.records).toEqual({ a: 'west' });
    await pass(60_000);
    expect(made.leases.records).toEqual({ b: 'west' });
    await made.end();
  });

  it('is recorded on a Lease that recorded what another Link has now, once its holder is gone (L63)', async () => {
    const made = new World([read('a', { names: 'east' }), read('b')], { a: 'west' });
    made.leases.put(leaseOf('a'), 'linkspan-killed', { [Annotation.targetCluster]: 'west' });
    await pass(60_000);
    expect(made.said.toSorted()).toEqual(['serves east by a', 'serves west by b']);
    expect(made.leases.records).toEqual({ a: 'east', b: 'west' });
    expect(made.leases.holders).toEqual({ [leaseOf('a')]: 'us', [leaseOf('b')]: 'us' });
    await made.end();
  });

  it('is served for a Link whose former cluster another controller writes for (L60)', async () => {
    const made = new World([read('a'), read('b', { at: '2026-01-02' })]);
    made.leases.put(leaseOf('b'), 'linkerd-0');
    await pass(500);
    await made.put(read('a', { names: 'east' }));
    await pass(10_000);
    expect(made.said).toEqual(['serves west by a', 'serves west by b', 'serves east by a']);
    expect(made.leases.records).toEqual({ a: 'east' });
    await made.end();
  });
});

describe('what a Link left (E5)', () => {
  it('is removed after a moment in which another may take over', async () => {
    const made = await world([read('a')]);
    made.left.set('west', ['shop/web']);
    await made.delete('a');
    await pass(1_900);
    expect(made.said).toEqual(['serves west by a']);
    await pass(1_000);
    expect(made.said).toEqual(['serves west by a', 'removes west of a']);
    expect(made.leases.holders).toEqual({ [leaseOf('a')]: 'us' });
    made.left.clear();
    await pass(3_000);
    expect(made.leases.holders).toEqual({});
    await made.end();
  });

  it('is looked for anew if the source cluster was away while the last writes under the Lease ended (L79)', async () => {
    const made = await world([read('a')]);
    made.left.set('west', ['shop/web']);
    await made.delete('a');
    await pass(3_000);
    made.writingMs = 5_000;
    made.left.clear();
    await pass(1_000);
    // It was restored from a backup.
    made.left.set('west', ['shop/web']);
    made.interruptions.noticed();
    await pass(10_000);
    expect(made.said).toEqual(['serves west by a', 'removes west of a', 'removes west of a']);
    expect(made.leases.holders).toEqual({ [leaseOf('a')]: 'us' });
    made.left.clear();
    await pass(10_000);
    expect(made.leases.holders).toEqual({});
    await made.end();
  });

  it('stays as long as all Links may have vanished, and its session goes on (L56)', async () => {
    const made = await world([read('a'), read('b', { names: 'north' })]);
    made.holdMs = 10_000;
    await made.delete('a');
    await made.delete('b');
    await pass(3_600_000);
    expect(made.said).toEqual(['serves west by a', 'serves north by b']);
    expect(made.leases.holders).toEqual({ [leaseOf('a')]: 'us', [leaseOf('b')]: 'us' });
    await made.put(read('a', { uid: 'other' }));
    await pass(1_000);
    expect(made.said.at(-1)).toBe('serves west by a');
    made.holdMs = 0;
    await pass(20_000);
    expect(made.said.filter((line) => line.startsWith('removes'))).toEqual(['removes north of b']);
    await made.end();
  });

  it('stays if all Links vanished during that moment (L56)', async () => {
    const made = await world([read('a')]);
    await made.delete('a');
    await pass(1_000);
    made.holdMs = 600_000;
    await pass(300_000);
    expect(made.said).toEqual(['serves west by a']);
    await made.end();
  });

  it('is given that moment each time', async () => {
    const made = await world([read('a')]);
    await made.delete('a');
    await pass(1_500);
    await made.put(read('a', { uid: 'other' }));
    await pass(1_000);
    await made.delete('a');
    await pass(1_500);
    expect(made.said.filter((line) => line.startsWith('removes'))).toEqual([]);
    await pass(1_000);
    expect(made.said.filter((line) => line.startsWith('removes'))).toEqual(['removes west of a']);
    await made.end();
  });

  it('before the operator started is removed too, unless an invalid Link names the cluster (E7)', async () => {
    const made = await world([], { a: 'west' });
    await pass(3_000);
    expect([made.said, made.leases.holders]).toEqual([['removes west of a'], {}]);
    await made.end();
    const invalid = await world([read('b', { valid: false })], { a: 'west' });
    await pass(10_000);
    expect([invalid.said, invalid.leases.records]).toEqual([['keeps west for b'], { b: 'west' }]);
    await invalid.end();
  });

  it('is removed when the Link is deleted that was invalid from the start (E7)', async () => {
    const made = await world([read('a', { valid: false, names: 'east' })], { a: 'west' });
    await pass(5_000);
    expect(made.said).toEqual([]);
    await made.delete('a');
    await pass(3_000);
    expect(made.said).toEqual(['removes west of a']);
    await made.end();
  });

  it('stays when a Link comes for the cluster while it is being removed', async () => {
    const made = await world([], { a: 'west' });
    made.left.set('west', ['shop/web']);
    await pass(3_000);
    await made.put(read('b'));
    await pass(1_000);
    expect(made.said).toEqual(['removes west of a', 'serves west by b']);
    expect(made.leases.holders).toEqual({ [leaseOf('b')]: 'us' });
    await made.delete('b');
    await pass(1_000);
    expect(made.said).toHaveLength(2);
    await made.end();
  });

  it('is left to a Link that comes for the cluster while another holds the Lease of the removal, and changes mirrors (L70)', async () => {
    const made = new World([], { a: 'west' });
    made.leases.put(leaseOf('a'), 'linkerd-0', { [Annotation.targetCluster]: 'west' });
    made.left.set('west', ['shop/web']);
    await pass(3_000);
    made.clusters.namespaceChanged('shop', 'exists');
    await pass(1_000);
    await made.put(read('b'));
    await pass(1_000);
    expect(made.said).toEqual(['removes west of a', 'serves west by b']);
    await made.end();
  });

  it('is not removed for a Link that is there again when the API server has answered (L71)', async () => {
    const made = await world([], { a: 'west' });
    await pass(1_000);
    made.answerMs = 2_000;
    await pass(1_500);
    await made.put(read('a'));
    await pass(3_000);
    expect(made.said).toEqual(['serves west by a']);
    await made.end();
  });

  it('is not removed for a Link that is there again when its session has stopped (L71)', async () => {
    const made = await world([read('a')]);
    await made.delete('a');
    made.leases.changeMs = 1_000;
    await pass(2_500);
    await made.put(read('a', { uid: 'other' }));
    await pass(2_000);
    made.leases.changeMs = 0;
    await pass(3_000);
    expect(made.said).toEqual(['serves west by a', 'serves west by a']);
    await made.end();
  });

  it('stays when an invalid Link comes to name the cluster while it is being removed (E7)', async () => {
    const made = await world([], { a: 'west' });
    made.left.set('west', ['shop/web']);
    await pass(3_000);
    await made.put(read('b', { valid: false }));
    await pass(1_000);
    expect(made.leases.records).toEqual({ b: 'west' });
    made.left.clear();
    await pass(1_000);
    expect(made.leases.records).toEqual({ b: 'west' });
    await made.end();
  });

  it('stays when a suspended Link comes to name the cluster while it is being removed (H9)', async () => {
    const made = await world([], { a: 'west' });
    made.left.set('west', ['shop/web']);
    await pass(3_000);
    expect(made.leases.holders).toEqual({ [leaseOf('a')]: 'us' });
    await made.put(read('b', { suspended: true }));
    await pass(1_000);
    expect(made.leases.holders).toEqual({ [leaseOf('a')]: '' });
    await made.end();
  });

  it.each<[string, (made: World) => Promise<void>, Readonly<Record<string, string>>]>([
    ['is served again', (made) => made.put(read('b')), { a: 'east', b: 'west' }],
    ['is deleted', (made) => made.delete('b'), { a: 'east' }],
    ['names another', (made) => made.put(read('b', { suspended: true, names: 'north' })), { a: 'east' }],
  ])('keeps the Link that left it to a suspended one, and says so, until that %s (E9, L171)', async (_, end, after) => {
    const made = await world([read('a')]);
    made.left.set('west', ['shop/web']);
    await made.put(read('b', { suspended: true }));
    await made.put(read('a', { names: 'east' }));
    await pass(5_000);
    expect([made.leases.records, made.left.get('west')]).toEqual([{ a: 'west' }, ['shop/web']]);
    expect(Object.fromEntries(made.accepted)).toEqual({ a: 'FormerClusterSuspended', b: 'Suspended' });
    expect(made.messages.get('a')).toMatch(/cluster "west".* Link b, which is suspended/);
    await end(made);
    await pass(5_000);
    // Also while the mirrors that it left are removed.
    expect(made.accepted.get('a')).toBe('Accepted');
    made.left.clear();
    await pass(5_000);
    expect(made.leases.records).toEqual(after);
    await made.end();
  });

  it.each<[string, readonly ('a' | 'b' | 'c')[]]>([
    ['after', ['b', 'a', 'c']],
    ['before', ['a', 'c', 'b']],
  ])('is for a Link to have that came %s the one that names it was kept from it (E9, L253)', async (_, order) => {
    const made = await world([read('a')]);
    made.left.set('west', ['shop/web']);
    const steps = {
      a: () => made.put(read('a', { names: 'east' })),
      b: () => made.put(read('b', { at: '2026-01-02', suspended: true })),
      c: () => made.put(read('c', { names: 'east', at: '2026-01-02' })),
    };
    for (const step of order) {
      await steps[step]();
      await pass(1_000);
    }
    await pass(5_000);
    expect(made.said.filter((each) => each.startsWith('serves'))).toEqual(['serves west by a', 'serves east by c']);
    expect([made.leases.records, made.left.get('west')]).toEqual([{ a: 'west', c: 'east' }, ['shop/web']]);
    expect(Object.fromEntries(made.accepted)).toEqual({ a: 'DuplicateCluster', b: 'Suspended', c: 'Accepted' });
    await made.end();
  });

  it('is for a Link to have as soon as the one that names it is kept from it, where nothing runs yet (E9, L253)', async () => {
    const made = await world([read('a', { names: 'east' }), read('c', { names: 'east', at: '2026-01-02' })], {
      a: 'west',
    });
    made.left.set('west', ['shop/web']);
    await made.put(read('b', { suspended: true }));
    await pass(5_000);
    expect([made.said, made.leases.records]).toEqual([['serves east by c'], { a: 'west', c: 'east' }]);
    expect(Object.fromEntries(made.accepted)).toEqual({ a: 'DuplicateCluster', b: 'Suspended', c: 'Accepted' });
    await made.end();
  });

  it('stays for the only Link that is to have the cluster, though a suspended one keeps it from that (E9, L253)', async () => {
    const made = await world([read('b', { suspended: true }), read('a', { names: 'east' })], { a: 'west', d: 'east' });
    made.left.set('east', ['shop/web']);
    await pass(5_000);
    expect(made.said).toEqual([]);
    expect(made.leases.records).toEqual({ a: 'west', d: 'east' });
    await made.end();
  });

  describe('that Links exchange (E9, L220)', () => {
    const exchanged = [read('a', { names: 'east' }), read('b', { at: '2026-01-02' })] as const;

    /** Two Links that exchange their clusters while they are served. */
    const afterExchange = async (): Promise<World> => {
      const made = await world([read('a'), read('b', { names: 'east', at: '2026-01-02' })]);
      await Promise.all(exchanged.map((each) => made.put(each)));
      await pass(5_000);
      return made;
    };

    it('stay with the Link that was served for them, which says what to do', async () => {
      const made = await afterExchange();
      expect(made.said).toEqual(['serves west by a', 'serves east by b']);
      expect(made.leases.records).toEqual({ a: 'west', b: 'east' });
      expect(Object.fromEntries(made.accepted)).toEqual({ a: 'DuplicateCluster', b: 'DuplicateCluster' });
      await made.end();
    });

    it('stay so where the operator starts beside them', async () => {
      const made = await world(exchanged, { a: 'west', b: 'east' });
      await pass(5_000);
      expect(made.leases.records).toEqual({ a: 'west', b: 'east' });
      expect(Object.fromEntries(made.accepted)).toEqual({ a: 'DuplicateCluster', b: 'DuplicateCluster' });
      await made.end();
    });

    it('are served as before once each Link names its own again', async () => {
      const made = await afterExchange();
      await made.put(read('a'));
      await made.put(read('b', { names: 'east', at: '2026-01-02' }));
      await pass(5_000);
      expect(Object.fromEntries(made.accepted)).toEqual({ a: 'Accepted', b: 'Accepted' });
      expect(made.said).toEqual(['serves west by a', 'serves east by b']);
      await made.end();
    });

    it('are exchanged once one Link is deleted, and created anew when the other is served', async () => {
      const made = await afterExchange();
      await made.delete('b');
      await pass(60_000);
      expect(made.accepted.get('a')).toBe('Accepted');
      expect(made.leases.records).toEqual({ a: 'east' });
      await made.put(read('b', { at: '2026-01-03', uid: 'anew' }));
      await pass(5_000);
      expect(made.leases.records).toEqual({ a: 'east', b: 'west' });
      expect(Object.fromEntries(made.accepted)).toEqual({ a: 'Accepted', b: 'Accepted' });
      await made.end();
    });
  });

  it('in namespaces that cannot be read is recorded until they can', async () => {
    const made = new World([], { a: 'west' });
    await made.setReadable('bank', false);
    await pass(60_000);
    expect([made.said, made.leases.holders]).toEqual([['removes west of a'], { [leaseOf('a')]: '' }]);
    await made.setReadable('bank', true);
    await pass(5_000);
    expect([made.said.length, made.leases.holders]).toEqual([2, {}]);
    await made.end();
  });

  it('in a namespace that can be read while the removal gives its Lease up is removed (L93)', async () => {
    const made = new World([], { a: 'west' });
    await made.setReadable('bank', false);
    made.leases.changeMs = 2_000;
    while (made.leases.holders[leaseOf('a')] !== 'us') await pass(100);
    await pass(1_000);
    expect(made.said).toEqual(['removes west of a']);
    await made.setReadable('bank', true);
    made.leases.changeMs = 0;
    await pass(60_000);
    expect([made.said.length, made.leases.holders]).toEqual([2, {}]);
    await made.end();
  });

  it('in namespaces that cannot be read does not keep the Link from its new cluster (L61)', async () => {
    const made = await world([read('a')]);
    await made.setReadable('bank', false);
    await made.put(read('a', { names: 'east' }));
    await pass(60_000);
    expect(made.said).toEqual(['serves west by a', 'removes west of a', 'serves east by a']);
    expect(made.leases.records).toEqual({ a: 'east' });
    await made.put(read('a'));
    await pass(60_000);
    made.left.set('west', ['shop/web']);
    await made.put(read('a', { names: 'east' }));
    await pass(60_000);
    expect(made.leases.records).toEqual({ a: 'west' });
    await made.end();
  });

  it('in ServiceImports that cannot be read is removed when they can be, and the Lease stays until then (K5)', async () => {
    const made = await world([read('a'), read('b', { names: 'east' })]);
    made.kept = ['shop/web'];
    await made.delete('a');
    await pass(60_000);
    expect([made.leases.records, made.clusters.mayHaveLink('west')]).toEqual([{ a: 'west', b: 'east' }, true]);
    made.kept = [];
    made.clusters.moreReadable();
    await pass(60_000);
    expect([made.leases.records, made.clusters.mayHaveLink('west')]).toEqual([{ b: 'east' }, false]);
    await made.end();
  });

  it('is not removed under a Lease that another holds', async () => {
    const made = new World([], { a: 'west' });
    made.leases.put(leaseOf('a'), 'linkerd-0', { 'linkspan.dev/target-cluster': 'west' });
    made.left.set('west', []);
    await pass(10_000);
    expect(made.leases.holders).toEqual({ [leaseOf('a')]: 'linkerd-0' });
    await pass(60_000);
    expect(made.leases.holders).toEqual({});
    await made.end();
  });
});

describe('the memberships of a cluster that nothing serves (I6)', () => {
  it('stay where no Link or Lease has ever named the cluster: it may have a Link elsewhere', async () => {
    const made = await world([read('a')], { b: 'north' });
    const mayHaveLink = () => ['west', 'north', 'elsewhere'].map((cluster) => made.clusters.mayHaveLink(cluster));
    await pass(60_000);
    expect(mayHaveLink()).toEqual([true, false, true]);
    await made.delete('a');
    await made.put(read('c', { names: 'south' }));
    await pass(60_000);
    expect(mayHaveLink()).toEqual([false, false, true]);
    const isStranger = () => ['west', 'elsewhere'].map((cluster) => made.clusters.isStranger(cluster));
    expect(isStranger()).toEqual([false, true]);
    await made.delete('c');
    // All Links may have vanished at once.
    expect(isStranger()).toEqual([false, false]);
    await made.end();
  });
});

describe('the credentials Secret of a Link (E2)', () => {
  it('is read when the Link is served, when it changes, and when the Link names another', async () => {
    const made = await world([read('a', { secret: 'one' })]);
    made.clusters.secretChanged('one');
    made.clusters.secretChanged('two');
    await pass(100);
    expect(made.secretsRead).toEqual(['one', 'one']);
    await made.put(read('a', { secret: 'two' }));
    await pass(100);
    expect(made.secretsRead).toEqual(['one', 'one', 'two']);
    await made.put(read('a', { secret: 'two' }));
    await pass(100);
    expect(made.secretsRead).toHaveLength(3);
    await made.end();
  });
});

/** The parts of a world that most tests want. */
function bound(made: World) {
  const { said, servedBeside, leases, accepted } = made;
  return { said, servedBeside, leases, accepted, put: (next: LinkRead) => made.put(next), end: () => made.end() };
}
