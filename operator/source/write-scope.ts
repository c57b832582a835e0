/** Whether mirrors may be written to a namespace (rules A3, E8), and whether the namespace exists. */
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

/** What is known of the operators of the cluster (rules K7, I9). */
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

/** How many namespaces may be created for a target cluster (rule E10). */
export class NamespaceBudget {
  readonly #most: number;
  readonly #cluster: string;
  readonly #namespaces: Pick<SourceNamespaces, 'createdFor' | 'stateOf'>;
  /** Those that are about to be created. */
  readonly #pending = new Set<string>();

  constructor(most: number, cluster: string, namespaces: Pick<SourceNamespaces, 'createdFor' | 'stateOf'>) {
    this.#most = most;
    this.#cluster = cluster;
    this.#namespaces = namespaces;
  }

  /** Reports whether a namespace that is missing may be created. It then counts as created. */
  admits(namespace: string): boolean {
    if (this.#pending.has(namespace)) return true;
    for (const name of this.#pending) if (this.#namespaces.stateOf(name) === 'exists') this.#pending.delete(name);
    if (this.#namespaces.createdFor(this.#cluster) + this.#pending.size >= this.#most) return false;
    this.#pending.add(namespace);
    return true;
  }
}
