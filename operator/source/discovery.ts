/**
 * Which target clusters Linkerd's destination controller has credentials of (rule I4): it takes them from labelled Secrets
 * in its own namespace. They are watched from the first question on, since nobody else needs the right to read them.
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
  /** Namespace of the control plane. */
  readonly namespace: string;
  /** Names of the only Secrets that may be read; undefined for all. */
  readonly names?: readonly string[] | undefined;
  readonly timings?: Partial<ReflectorTimings> | undefined;
  readonly interruptions?: Interruptions | undefined;
  readonly log: Logger;
  readonly listener: DiscoveryListener;
}

/** Learns that the answer may have changed. */
export interface DiscoveryListener {
  /** That for one cluster. */
  addOf(cluster: string): void;
  /** That for any: the Secrets were listed anew. */
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
        "it is not known which clusters Linkerd's control plane has credentials of; federated Services on a flat network get no new members. Set flat of MirrorOperator, which lets the operator list and watch the Secrets there",
      );
    });
  }

  /** Whether there are credentials of a cluster; undefined if that is not known. */
  has(cluster: string): boolean | undefined {
    this.#asked.resolve();
    return this.#store.synced ? this.#store.by('cluster', cluster).length > 0 : undefined;
  }

  /** Watches, once it has been asked, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#asked.promise, aborted(signal)]);
    if (!signal.aborted) await Promise.all(this.#store.partitions.map((name) => this.#watch(name, signal)));
  }

  /** @param name of the only Secret that is read; undefined for all */
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

/** The cluster that a Secret has the credentials of; none if Linkerd's controller ignores it. */
export function discoveredBy({ metadata: { labels = {}, annotations = {} }, data }: Secret): readonly string[] {
  const cluster = labels[Label.credentialsClusterName];
  const isComplete = [Annotation.trustDomain, Annotation.clusterDomain].every(
    (name) => annotations[name] !== undefined,
  );
  return cluster === undefined || !isComplete || data?.[CredentialsSecret.key] === undefined ? [] : [cluster];
}

/** Keeps who it is for, and not the credentials themselves. */
const trimSecret = ({ metadata, data }: Secret): Secret => {
  const { name, namespace, uid, resourceVersion, labels, annotations } = metadata;
  const hasKubeconfig = data?.[CredentialsSecret.key] !== undefined;
  return {
    metadata: { name, namespace, uid, resourceVersion, labels, annotations },
    ...(hasKubeconfig && { data: { [CredentialsSecret.key]: '' } }),
  } as Secret;
};
