/**
 * Knows for which target clusters Linkerd's destination controller has credentials (rule I4). That controller takes
 * them from labelled Secrets in its own namespace. These Secrets are watched only once {@link Discovery.has} is called,
 * so that an operator that never calls it needs no right to read them.
 */
import { Annotation, CredentialsSecret, Label } from '../../crds/wire.ts';
import { aborted } from '../kube/abort.ts';
import type { KubeClient } from '../kube/client.ts';
import { describe } from '../kube/errors.ts';
import { type Secret, SECRETS } from '../kube/objects.ts';
import { ReadHealth } from '../runtime/health.ts';
import type { Interruptions } from '../runtime/interruptions.ts';
import type { Logger } from '../runtime/logger.ts';
import { Reflector, type ReflectorTimings } from '../runtime/reflector.ts';
import { Store } from '../runtime/store.ts';

export interface DiscoveryOptions {
  /** The source cluster. */
  readonly client: KubeClient;
  /** Namespace of Linkerd's control plane. */
  readonly namespace: string;
  /** Names of the only Secrets that may be read; undefined for all. */
  readonly names?: readonly string[] | undefined;
  readonly timings?: Partial<ReflectorTimings> | undefined;
  readonly interruptions?: Interruptions | undefined;
  readonly log: Logger;
  readonly listener: DiscoveryListener;
}

/** Notified when the answer of {@link Discovery.has} may have changed. */
export interface DiscoveryListener {
  /** Called when the answer for one cluster may have changed. */
  addOf(cluster: string): void;
  /** Called when all answers may have changed, since the Secrets were listed anew. */
  addAll(): void;
}

export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #store: Store<Secret>;
  readonly #asked = Promise.withResolvers<void>();
  readonly #health: ReadHealth;

  constructor(options: DiscoveryOptions) {
    const { names, namespace, log, listener } = options;
    this.#options = options;
    this.#store = new Store<Secret>({
      trim: trimSecret,
      indexes: { cluster: discoveredBy },
      ...(names !== undefined && { partitionBy: 'name' as const, partitions: names }),
      listener: {
        relisted: () => listener.addAll(),
        changed: ({ before, after }) => {
          const [former, next] = [before, after].map((each) => each && discoveredBy(each)[0]);
          if (former === next) return;
          for (const cluster of [former, next]) if (cluster !== undefined) listener.addOf(cluster);
        },
      },
    });
    this.#health = new ReadHealth((obstacle) => {
      if (obstacle === undefined) return;
      log.warn(
        { resource: SECRETS.plural, namespace, error: describe(obstacle.error) },
        "it is not known which clusters Linkerd's control plane has credentials of; federated Services on a flat network get no new members, and ServiceImports do not say whose are missing. Set flat of MirrorOperator, which lets the operator list and watch the Secrets there",
      );
    });
  }

  /**
   * Reports whether Linkerd's destination controller has credentials for a cluster; undefined while that is not known.
   * The first call starts the watch of the Secrets.
   */
  has(cluster: string): boolean | undefined {
    this.#asked.resolve();
    return this.#store.synced ? this.#store.by('cluster', cluster).length > 0 : undefined;
  }

  /** Watches the Secrets, from the first call of {@link has} until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#asked.promise, aborted(signal)]);
    if (!signal.aborted) await Promise.all(this.#store.partitions.map((name) => this.#watch(name, signal)));
  }

  /** @param name name of the only Secret that is read; undefined for all */
  #watch(name: string | undefined, signal: AbortSignal): Promise<void> {
    const { client, namespace, timings, interruptions } = this.#options;
    const named = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
    return new Reflector<Secret>({
      client: () => client,
      resource: SECRETS,
      select: { namespace, labelSelector: Label.credentialsClusterName, ...named },
      sink: this.#store.sink(name),
      interruptions,
      ...(timings === undefined ? {} : { timings }),
      onState: (state) => this.#health.report(name ?? SECRETS.plural, state),
    }).run(signal);
  }
}

/**
 * Returns the cluster whose credentials a Secret holds, in a list that is empty if Linkerd's controller ignores the
 * Secret.
 */
export function discoveredBy({ metadata: { labels = {}, annotations = {} }, data }: Secret): readonly string[] {
  const cluster = labels[Label.credentialsClusterName];
  const isComplete = [Annotation.trustDomain, Annotation.clusterDomain].every(
    (name) => annotations[name] !== undefined,
  );
  return cluster === undefined || !isComplete || data?.[CredentialsSecret.key] === undefined ? [] : [cluster];
}

/** Keeps the cluster that a Secret is for, and whether it has credentials, but not the credentials themselves. */
const trimSecret = ({ metadata, data }: Secret): Secret => {
  const { name, namespace, uid, resourceVersion, labels, annotations } = metadata;
  const hasKubeconfig = data?.[CredentialsSecret.key] !== undefined;
  return {
    metadata: { name, namespace, uid, resourceVersion, labels, annotations },
    ...(hasKubeconfig && { data: { [CredentialsSecret.key]: '' } }),
  } as Secret;
};
