/** Whether the operator of an installation runs, and what keeps its pods from it. */
import { PODS as OPERATOR_PODS } from '../../../constructs/operator/pods.ts';
import { OPERATOR_NAME } from '../../../crds/wire.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { CommandError } from '../common/command-error.ts';
import { kubectl } from '../common/command-text.ts';
import { DEPLOYMENTS, PODS } from '../common/kinds.ts';
import { ifAllowed } from '../common/readable.ts';
import { OPERATOR_SELECTOR } from '../common/remedies.ts';
import { type Look, waitFor } from '../common/wait.ts';

interface Deployment extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
  };
}

interface ContainerStatus {
  readonly image?: string;
  readonly state?: { readonly waiting?: { readonly reason?: string } };
}

interface Pod extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

/** What the kubelet says of a container that is on its way. */
const ON_ITS_WAY: readonly string[] = ['ContainerCreating', 'PodInitializing'];

/** Nobody runs, however long it is waited for. */
const SCALED_TO_0 = 'it is scaled to 0';

/** The pods of the operator. */
export const operatorPods = (cluster: Cluster, namespace: string): Promise<readonly KubeObject[]> =>
  cluster.list(PODS, {
    namespace,
    labelSelector: Object.entries(OPERATOR_PODS)
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
  });

/** Looks whether every pod of the operator is of the Deployment as it is now, and is available. */
export const operatorRuns = async (cluster: Cluster, namespace: string): Promise<Look<undefined>> => {
  const found = await cluster.find<Deployment>(DEPLOYMENTS, { namespace, name: OPERATOR_NAME });
  const { metadata, spec, status = {} } = found ?? {};
  const wanted = spec?.replicas ?? 1;
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const isSeen = found !== undefined && observedGeneration >= (metadata?.generation ?? 0);
  if (wanted === 0) return { pending: SCALED_TO_0 };
  if (isSeen && replicas === wanted && updatedReplicas === wanted && availableReplicas === wanted)
    return { done: undefined };
  const pods = await ifAllowed(() => operatorPods(cluster, namespace));
  const obstacles = 'found' in pods ? pods.found.flatMap(obstaclesOf) : [];
  const rest = obstacles.length === 0 ? '' : `: ${[...new Set(obstacles)].join(', ')}`;
  return { pending: `${isSeen ? Math.min(updatedReplicas, availableReplicas) : 0} of ${wanted} pods are up${rest}` };
};

const obstaclesOf = ({ status = {} }: Pod): readonly string[] => {
  const { conditions = [], initContainerStatuses = [], containerStatuses = [] } = status;
  const unscheduled = conditions.filter(({ type, status }) => type === 'PodScheduled' && status === 'False');
  const waiting = [...initContainerStatuses, ...containerStatuses].flatMap(({ image = '', state }) => {
    const reason = state?.waiting?.reason;
    return reason === undefined || ON_ITS_WAY.includes(reason) ? [] : [`${reason} of ${image}`];
  });
  return [...unscheduled.map(({ reason = 'not scheduled' }) => reason), ...waiting];
};

/** Waits until the operator runs. @throws CommandError with what keeps it from it */
export const untilOperatorRuns = async (cluster: Cluster, namespace: string, timeoutMs: number): Promise<undefined> => {
  const object = cluster.title(DEPLOYMENTS.kind, { namespace, name: OPERATOR_NAME });
  const own = ['--namespace', namespace];
  const look = async (): Promise<Look<undefined>> => {
    const state = await operatorRuns(cluster, namespace);
    if (!('pending' in state) || state.pending !== SCALED_TO_0) return state;
    const remedy = kubectl(cluster, ...own, 'scale', `deployment/${OPERATOR_NAME}`, '--replicas=2');
    throw new CommandError([{ object, reason: SCALED_TO_0, remedy }]);
  };
  return waitFor(`the operator in ${cluster.context}`, look, {
    timeoutMs,
    problem: (pending, waitedMs) => ({
      object,
      reason: `${pending}, after ${waitedMs / 1000} s`,
      remedy: kubectl(cluster, ...own, 'describe', 'pods', '--selector', OPERATOR_SELECTOR),
    }),
  });
};
