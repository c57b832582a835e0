/**
 * Ways in which objects come to be in a cluster before a command meets them. What a command has made itself becomes
 * somebody else's when another manager is written into its managedFields, as `kubectl`, Helm and Argo CD leave theirs.
 */
import { COMMAND_LINE } from '../../../crds/wire.ts';
import type { Api, KubeObject, ObjectRef } from '../../cluster/workload/index.ts';
import { linkerdChart } from '../../support/linkerd-chart.ts';

/** Who has made what a command meets. */
export const OWNERS = [
  'nothing there',
  'its own',
  "Linkerd's command line",
  'Helm',
  'kubectl apply',
  'Argo CD',
  'its own, changed by an administrator',
] as const;
export type Owner = (typeof OWNERS)[number];

type Texts = Readonly<Record<string, string>>;

interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly labels?: Texts;
  readonly annotations?: Texts;
}

/** How the managers of the field leave their objects. */
export const MANAGERS: Readonly<Record<'Helm' | 'kubectl apply' | 'Argo CD', Manager>> = {
  Helm: {
    manager: 'helm',
    operation: 'Update',
    labels: { 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: {
      'meta.helm.sh/release-name': 'multicluster',
      'meta.helm.sh/release-namespace': 'linkerd-multicluster',
    },
  },
  'kubectl apply': { manager: 'kubectl-client-side-apply', operation: 'Update' },
  'Argo CD': {
    manager: 'argocd-controller',
    operation: 'Apply',
    annotations: { 'argocd.argoproj.io/tracking-id': 'multicluster:/:linkerd-multicluster/x' },
  },
};

/** Makes an object of the command line somebody else's. */
export const handOver = async (client: Api, object: KubeObject, to: Manager): Promise<void> => {
  await client.patch(
    object,
    { metadata: { labels: to.labels, annotations: to.annotations } },
    { fieldManager: to.manager },
  );
  const live = await client.get(object);
  if (live === undefined) return;
  const own = (live.metadata.managedFields ?? []).find(({ manager }) => manager === COMMAND_LINE);
  const others = (live.metadata.managedFields ?? []).filter(
    ({ manager }) => manager !== COMMAND_LINE && manager !== to.manager,
  );
  if (own === undefined) return;
  const mine = { ...own, manager: to.manager, operation: to.operation };
  const metadata = { ...live.metadata, managedFields: [...others, mine] };
  const handed: KubeObject = { ...live, metadata };
  await client.replace(handed);
};

/** What the command line has made in a cluster, by managedFields. */
export const madeByCommands = (objects: readonly KubeObject[]): readonly KubeObject[] =>
  objects.filter(({ metadata }) => (metadata.managedFields ?? []).some(({ manager }) => manager === COMMAND_LINE));

/** Installs what Linkerd's chart renders, as Linkerd's command line or Helm leaves it. */
export const installChart = async (client: Api, { manager, labels, annotations }: Manager): Promise<void> => {
  for (const object of linkerdChart) {
    const { metadata } = object;
    const there: ObjectRef = {
      ...object,
      metadata: {
        ...metadata,
        labels: { ...metadata.labels, ...labels },
        annotations: { ...metadata.annotations, ...annotations },
      },
    } as ObjectRef;
    if ((await client.get(there)) === undefined) await client.create(there, { fieldManager: manager });
    else await client.apply(there, { fieldManager: manager });
  }
};

/** What an administrator changes of what a command has made: with `kubectl edit`. */
export const editAs = (client: Api, ref: ObjectRef, patch: object): Promise<unknown> =>
  client.patch(ref, patch, { fieldManager: 'kubectl-edit' });
