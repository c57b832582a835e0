/**
 * A coordination.k8s.io/v1 Lease on an API server, with the protocol of client-go's leader election: who holds it, how
 * long another's must be left alone, and what is written to acquire, renew, release and delete it.
 */
import { jittered, sleep } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { isNotFound, unlessNotFound } from '../kube/errors.ts';
import { LEASES, type Lease } from '../kube/objects.ts';
import { within } from '../kube/within.ts';
import type { Fenceable } from './fence.ts';
import { UnderWay } from './under-way.ts';

/** What Leases are read and written with. */
export interface LeaseClient
  extends
    Pick<KubeClient, 'read' | 'create' | 'replace' | 'delete'>,
    Fenceable<Pick<KubeClient, 'create' | 'replace'>> {}

/**
 * Returns annotations for a Lease; those that are undefined are removed.
 * @param before the Lease as it is
 */
export type LeaseNotes = (
  leaseTransitions: number,
  before: Lease | undefined,
) => Readonly<Record<string, string | undefined>>;

export interface LeaseRecordOptions {
  readonly client: LeaseClient;
  readonly namespace: string;
  readonly name: string;
  /** Our `spec.holderIdentity`: the name of the pod. The same identity after a restart is the same holder. */
  readonly identity: string;
  /** How long a Lease that is not renewed remains its holder's. On the wire it is rounded up to whole seconds. */
  readonly leaseDurationMs: number;
  /**
   * Whether a holder has certainly ceased to write under the Lease, so that its Lease need not expire. Asked right
   * before the Lease is acquired.
   * @default () => false
   */
  readonly hasCeased?: (identity: string) => boolean;
  /** Set on the Lease with each renewal, beside the annotations that it has; they stay when it is released. */
  readonly annotations?: Readonly<Record<string, string>>;
  /**
   * Asked when the Lease has other values of these annotations, as in a cluster that was restored from a backup. Unless
   * they may be written over, it cannot be acquired or renewed.
   * @default () => true
   */
  readonly mayReplace?: (annotations: Readonly<Record<string, string>>) => boolean;
  /** What is set with each write that acquires or renews the Lease, whatever it had. Released, it keeps it. */
  readonly notes?: LeaseNotes;
}

/** A Lease that is ours. */
export interface Held {
  readonly holder: 'us';
  readonly lease: Lease;
  /** When the write that acquired or renewed it was sent, on the monotonic clock. */
  readonly sinceMs: number;
  /** The same on the wall clock, which goes on while the machine sleeps. */
  readonly sinceWallMs: number;
  /** Identity of the holder whose Lease it was, and had expired. */
  readonly predecessor: string | undefined;
}

export interface HeldByAnother {
  readonly holder: 'another';
  readonly identity: string;
  /** How long until it expires, unless it is renewed. */
  readonly remainingMs: number;
}

export interface AttemptOptions {
  /** The Lease as it was acquired or last renewed. @default - it is to be acquired */
  readonly held?: Held;
  /** The Lease as it certainly is, which saves a read. @default - it is read */
  readonly known?: Lease | undefined;
  /** Called if the Lease is nobody else's, before it is written. @default - nothing is done */
  readonly free?: () => void;
}

/** Deadline of a release or removal. */
const LEAVE_DEADLINE_MS = 2_000;

export class LeaseRecord {
  readonly #options: LeaseRecordOptions;
  /** Another's Lease as it was last read, and when it was first read with that content. */
  #observed: { readonly record: string; readonly atMs: number } | undefined;
  #heardMs: number | undefined;
  /** Its writes, once they are sent, end with their answer: they may be carried out even if nobody waits for them. */
  readonly #writer: Pick<KubeClient, 'create' | 'replace'>;
  /** The writes of attempts. */
  readonly #writes = new UnderWay();

  constructor(options: LeaseRecordOptions) {
    this.#options = options;
    this.#writer = options.client.fenced(() => undefined);
  }

  /** `namespace/name` of the Lease. */
  get key(): string {
    return `${this.#options.namespace}/${this.#options.name}`;
  }

  /** When the Lease was last read or written with success, on the monotonic clock; undefined if that never happened. */
  get heardMs(): number | undefined {
    return this.#heardMs;
  }

  /**
   * One attempt to acquire the Lease, or to renew it if it was `held`: a Lease that another has taken since is not
   * taken back here, since that would hide that it was lost.
   * @throws ApiError or ConnectionError; Error if its annotations are not those that were written
   */
  async attempt(signal: AbortSignal, { held, known, free }: AttemptOptions = {}): Promise<Held | HeldByAnother> {
    const { namespace, name, hasCeased = () => false } = this.#options;
    const lease = known ?? (await this.#read(signal));
    const identity = lease?.spec?.holderIdentity ?? '';
    const isAnothers = identity !== '' && identity !== this.#options.identity;
    if (lease !== undefined && isAnothers) {
      const remainingMs = hasCeased(identity) ? 0 : this.#remainingMs(lease);
      if (held !== undefined || remainingMs > 0) {
        this.#heardMs = performance.now();
        return { holder: 'another', identity, remainingMs };
      }
    }
    free?.();
    this.#mustNotBeReplaced(lease);
    const [sinceMs, sinceWallMs] = [performance.now(), Date.now()];
    const spec = this.#heldSpec(lease?.spec);
    const metadata = lease?.metadata ?? { namespace, name };
    const object = named({ ...metadata, annotations: this.#annotated(lease, spec) }, spec);
    const verb = lease === undefined ? 'create' : 'replace';
    const written = await this.#writes.run(() => this.#writer[verb]<Lease>(LEASES, object, signal));
    this.#heardMs = performance.now();
    return { holder: 'us', lease: written, sinceMs, sinceWallMs, predecessor: isAnothers ? identity : undefined };
  }

  #mustNotBeReplaced(lease: Lease | undefined): void {
    const { annotations = {}, mayReplace = () => true } = this.#options;
    const found = lease?.metadata.annotations ?? {};
    const replaced = Object.entries(annotations).filter(([name, value]) => (found[name] ?? value) !== value);
    if (replaced.length === 0 || mayReplace(found)) return;
    throw new Error(
      `Lease ${this.key} has come to have ${replaced.map(([name]) => `${name}: "${found[name]}"`).join()}`,
    );
  }

  #annotated(lease: Lease | undefined, { leaseTransitions }: HeldSpec): Readonly<Record<string, string>> {
    const { annotations, notes } = this.#options;
    const before = lease?.metadata.annotations;
    const all: Record<string, string | undefined> = { ...before, ...annotations, ...notes?.(leaseTransitions, lease) };
    return Object.fromEntries(
      Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
    );
  }

  #heldSpec(before: Lease['spec']): HeldSpec {
    const now = microTime(new Date());
    const ours = before?.holderIdentity === this.#options.identity;
    return {
      ...before,
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.ceil(this.#options.leaseDurationMs / 1000),
      acquireTime: (ours ? before.acquireTime : undefined) ?? now,
      renewTime: now,
      leaseTransitions: (before?.leaseTransitions ?? 0) + (ours || before === undefined ? 0 : 1),
    };
  }

  /** How long another's Lease must remain unchanged before we may take it. */
  #remainingMs(lease: Lease): number {
    const record = JSON.stringify([lease.metadata.uid, lease.spec]);
    if (this.#observed?.record !== record) this.#observed = { record, atMs: performance.now() };
    const seconds = lease.spec?.leaseDurationSeconds ?? 0;
    const durationMs = seconds > 0 ? seconds * 1000 : this.#options.leaseDurationMs;
    return this.#observed.atMs + durationMs - performance.now();
  }

  /**
   * Releases or deletes the Lease if it is ours, or comes to be by an attempt that was given up, with retries until the
   * deadline.
   * @param how asked again each time the Lease has been read
   */
  async leave(how: () => 'release' | 'delete', signal?: AbortSignal): Promise<void> {
    let failure: unknown;
    try {
      await within(LEAVE_DEADLINE_MS, signal, async (leaving) => {
        while (!leaving.aborted) {
          try {
            const attempts = this.#writes.isEmpty ? undefined : this.#writes.ended();
            if ((await this.#leaveOnce(how, leaving)) || attempts === undefined) return;
            await attempts;
          } catch (error) {
            if (isNotFound(error)) return;
            if (!isAborted(leaving)) failure = error;
            await sleep(jittered(50), leaving);
          }
        }
      });
    } catch (error) {
      throw failure ?? error;
    }
  }

  /** @returns whether it was ours */
  async #leaveOnce(how: () => 'release' | 'delete', signal: AbortSignal): Promise<boolean> {
    const { client, identity, namespace, name } = this.#options;
    const lease = await this.#read(signal);
    if (lease?.spec?.holderIdentity !== identity) return false;
    if (how() === 'delete') {
      const { uid, resourceVersion } = lease.metadata;
      await client.delete(LEASES, { namespace, name }, { uid, resourceVersion }, signal);
      return true;
    }
    const now = microTime(new Date());
    const vacant = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
    await client.replace<Lease>(LEASES, named(lease.metadata, { ...lease.spec, ...vacant }), signal);
    return true;
  }

  #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace, name } = this.#options;
    return client.read<Lease>(LEASES, namespace, name, signal).catch(unlessNotFound);
  }
}

type HeldSpec = NonNullable<Lease['spec']> & { readonly leaseTransitions: number };

const named = (metadata: Lease['metadata'], spec: NonNullable<Lease['spec']>): Lease => ({ metadata, spec });

/** For a check after an await: TypeScript takes `signal.aborted` for what it was before. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

/** RFC 3339 with microseconds: `metav1.MicroTime` accepts no other number of digits. */
const microTime = (date: Date): string => date.toISOString().replace('Z', '000Z');
