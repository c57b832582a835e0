/** Decides which namespaces the operator may write to (rules A3, E8), and how many it may create (rule E10). */
import { isProtectedNamespace } from '../../crds/operator-values.ts';
import type { OperatorConfig } from '../config/config.ts';
import type { KnownNamespace, Operators } from '../mirror/observed.ts';
import { isCertainlyGone, type SourceNamespaces } from './namespaces.ts';
import type { SourceStores } from './stores.ts';

export function namespaceStateOf(
  namespace: string,
  { config, source }: { readonly config: OperatorConfig; readonly source: Pick<SourceStores, 'namespaces'> },
): KnownNamespace {
  const isAllowed =
    !isProtectedNamespace(namespace, config) &&
    (config.mirrorNamespaces === undefined || config.mirrorNamespaces.includes(namespace));
  return isAllowed ? source.namespaces.stateOf(namespace) : 'forbidden';
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

/** Limits how many namespaces are created for a target cluster (rule E10). */
export class NamespaceBudget {
  readonly #most: number;
  readonly #cluster: string;
  readonly #namespaces: Pick<SourceNamespaces, 'createdFor' | 'stateOf'>;
  /** Namespaces that are about to be created. */
  readonly #pending = new Set<string>();

  constructor(most: number, cluster: string, namespaces: Pick<SourceNamespaces, 'createdFor' | 'stateOf'>) {
    this.#most = most;
    this.#cluster = cluster;
    this.#namespaces = namespaces;
  }

  /** Reports whether a missing namespace may be created. If so, the namespace counts as created from then on. */
  admits(namespace: string): boolean {
    if (this.#pending.has(namespace)) return true;
    for (const name of this.#pending) if (this.#namespaces.stateOf(name) === 'exists') this.#pending.delete(name);
    if (this.#namespaces.createdFor(this.#cluster) + this.#pending.size >= this.#most) return false;
    this.#pending.add(namespace);
    return true;
  }
}
