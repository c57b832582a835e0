/** Decides which namespaces the operator may write to (rules A3, E8), and how many it may create (rule E10). */
import { isMirrorNamespace } from '../../crds/operator-values.ts';
import type { OperatorConfig } from '../config/config.ts';
import { splitKey } from '../kube/objects.ts';
import type { KnownNamespace, Operators } from '../mirror/observed.ts';
import { isCertainlyGone, type SourceNamespaces } from './namespaces.ts';
import type { SourceStores } from './stores.ts';

export function namespaceStateOf(
  namespace: string,
  { config, source }: { readonly config: OperatorConfig; readonly source: Pick<SourceStores, 'namespaces'> },
): KnownNamespace {
  return isMirrorNamespace(namespace, config) ? source.namespaces.stateOf(namespace) : 'forbidden';
}

/** Returns what is known about the operators in the source cluster (rules K7, I9). */
export const operatorsOf = ({
  config,
  source,
}: {
  readonly config: OperatorConfig;
  readonly source: Pick<SourceStores, 'namespaces'>;
}): Operators => ({
  own: config.namespace,
  isGone: (namespace) => isCertainlyGone(source.namespaces, config.mirrorNamespaces, namespace),
});

export interface NamespaceBudgetOptions {
  readonly most: number;
  readonly cluster: string;
  readonly namespaces: Pick<SourceNamespaces, 'createdFor' | 'isCreatedFor' | 'stateOf'>;
  /**
   * Called when a namespace that was about to be created is not created after all, or was created by somebody else.
   * @default - nobody waits for room
   */
  readonly freed?: () => void;
}

/** What is derived from Services of a target, and may need a namespace. */
export type NamespaceUse = 'mirror' | 'federation';

/**
 * Limits how many namespaces are created for a target cluster (rule E10). Those that exist count, and so does each one
 * that the latest decision about a key creates.
 */
export class NamespaceBudget {
  readonly #options: NamespaceBudgetOptions;
  /** By namespace: what is about to have it created. */
  readonly #pending = new Map<string, Set<string>>();
  /** Whether anything might wait for room: a namespace was not admitted since {@link NamespaceBudgetOptions.freed}. */
  #isShort = false;

  constructor(options: NamespaceBudgetOptions) {
    this.#options = options;
  }

  /** Reports whether a missing namespace may be created. */
  admits(namespace: string): boolean {
    if (this.#pending.has(namespace)) return true;
    const { most, cluster, namespaces } = this.#options;
    const pending = [...this.#pending.keys()].filter((name) => namespaces.stateOf(name) !== 'exists');
    const isAdmitted = namespaces.createdFor(cluster) + pending.length < most;
    if (!isAdmitted) this.#isShort = true;
    return isAdmitted;
  }

  /**
   * Records what was decided about a key, before it is carried out: whether the namespace of the key is created, for
   * this cluster.
   */
  decided(use: NamespaceUse, key: string, isCreated: boolean): void {
    const { namespaces, cluster, freed } = this.#options;
    const { namespace } = splitKey(key);
    const by = `${use} ${key}`;
    const pending = this.#pending.get(namespace);
    if (isCreated) this.#pending.set(namespace, (pending ?? new Set()).add(by));
    else if (pending?.delete(by) === true && pending.size === 0) {
      this.#pending.delete(namespace);
      if (!this.#isShort || namespaces.isCreatedFor(namespace, cluster)) return;
      this.#isShort = false;
      freed?.();
    }
  }
}
