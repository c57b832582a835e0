/** Mirrors of a source cluster that its operator never removes, since it writes nothing to their namespaces (rule A3). */
import { isMirrorNamespace } from '../../../crds/operator-values.ts';
import { Label, Value } from '../../../crds/wire.ts';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import type { Cluster } from './cluster.ts';
import { kubectl } from './command-text.ts';
import { operatorSettings } from './operator-settings.ts';
import { readable } from './readable.ts';
import { liveReader } from './reader.ts';

/** Where an operator writes. */
export type WriteScope = Pick<OperatorConfig, 'namespace' | 'controlPlaneNamespace' | 'mirrorNamespaces'>;

/** Where the operator of a namespace writes; where every operator does if its settings cannot be read. */
export const writeScope = async (
  cluster: Cluster,
  namespaces: { readonly namespace: string; readonly linkerdNamespace: string },
): Promise<WriteScope> => {
  const read = await readable(() => operatorSettings(liveReader(cluster), namespaces));
  const { namespace, linkerdNamespace } = namespaces;
  return 'found' in read
    ? read.found.config
    : { namespace, controlPlaneNamespace: linkerdNamespace, mirrorNamespaces: undefined };
};

/** Reports whether the operator removes a mirror, or the probe Service of a Link, when the Link is gone. */
export const isRemoved = ({ metadata: { namespace = '', labels = {} } }: KubeObject, scope: WriteScope): boolean =>
  isMirrorNamespace(namespace, scope) ||
  (namespace === scope.namespace && labels[Label.mirroredGateway] === Value.true);

/** The mirrors of a target that stay, with the commands that delete them. */
export const leftNotes = (source: Cluster, target: string, left: readonly KubeObject[]): readonly string[] =>
  [...Map.groupBy(left, ({ metadata }) => metadata.namespace ?? '')].map(([namespace, all]) => {
    const words = all.map(({ metadata }) => `service/${metadata.name}`);
    const command = kubectl(source, '--namespace', namespace, 'delete', ...words);
    return `mirrors of ${target} in namespace ${namespace} of ${source.context} stay, since the operator writes nothing there; \`${command}\` deletes them`;
  });
