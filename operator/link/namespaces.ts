/** Whether mirrors may be written to a namespace (rules A3, E8), and whether the namespace exists. */
import { PROTECTED_NAMESPACES } from '../../crds/wire.ts';
import type { OperatorConfig } from '../config/config.ts';
import type { NamespaceState } from '../mirror/observed.ts';
import type { SourceCluster } from '../source/source.ts';

export function namespaceStateOf(
  namespace: string,
  { config, source }: { readonly config: OperatorConfig; readonly source: Pick<SourceCluster, 'namespaces'> },
): NamespaceState {
  const isAllowed =
    !PROTECTED_NAMESPACES.includes(namespace) &&
    namespace !== config.namespace &&
    namespace !== config.controlPlaneNamespace &&
    (config.mirrorNamespaces === undefined || config.mirrorNamespaces.includes(namespace));
  return isAllowed ? source.namespaces.stateOf(namespace) : 'forbidden';
}
