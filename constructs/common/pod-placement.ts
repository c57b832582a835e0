/**
 * Number and placement of the pods of our Deployments, and how many may be disrupted at once: the same props for the
 * gateway and the operator. The defaults suit a cluster of any size: pods spread where possible.
 */
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { type FieldError, fieldError, fieldPath } from '../../crds/field-error.ts';
import { isLabelKey, isLabelValue } from '../../crds/names.ts';

/** Resource requests and limits of a container: quantities such as `100m` and `64Mi`, by `cpu`, `memory` and the like. */
export interface Resources {
  /**
   * Quantities that are reserved for the container.
   * @default - none
   */
  readonly requests?: Readonly<Record<string, string>> | undefined;
  /**
   * Quantities that the container may use at most.
   * @default - none
   */
  readonly limits?: Readonly<Record<string, string>> | undefined;
}

/** A taint that the pods tolerate. */
export interface Toleration {
  /**
   * Key of the taint.
   * @default - every key, with operator Exists
   */
  readonly key?: string | undefined;
  /**
   * `Equal` compares the value; `Exists` tolerates every value.
   * @default Equal
   */
  readonly operator?: 'Equal' | 'Exists' | undefined;
  /**
   * Value of the taint, for `Equal`.
   * @default - the empty value
   */
  readonly value?: string | undefined;
  /**
   * Effect of the taint.
   * @default - every effect
   */
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute' | undefined;
  /**
   * Seconds that a pod stays on a node that gets a NoExecute taint.
   * @default - forever
   */
  readonly tolerationSeconds?: number | undefined;
}

/** A topology that the pods are spread over: the values of a node label. */
export interface TopologySpread {
  /** Key of the node label, as in `topology.kubernetes.io/zone`. */
  readonly topologyKey: string;
  /**
   * Maximum difference between the numbers of pods of two values.
   * @default 1
   */
  readonly maxSkew?: number | undefined;
  /**
   * Whether a pod that cannot be spread is scheduled anyway or waits.
   * @default ScheduleAnyway
   */
  readonly whenUnsatisfiable?: 'ScheduleAnyway' | 'DoNotSchedule' | undefined;
}

/** Props of the number and placement of pods. */
export interface PodPlacementProps {
  /** Number of pods. With more than one, a PodDisruptionBudget lets at most one be unavailable. */
  readonly replicas?: number | undefined;
  /**
   * Whether two pods must not share a node (`required`), should not (`preferred`) or may (`none`).
   * @default preferred
   */
  readonly antiAffinity?: 'required' | 'preferred' | 'none' | undefined;
  /**
   * Topologies that the pods are spread over, such as zones and racks.
   * @default - zones, where nodes are labelled with them
   */
  readonly topologySpread?: readonly TopologySpread[] | undefined;
  /**
   * Labels that a node must have.
   * @default - none
   */
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
  /**
   * Taints of nodes that the pods tolerate.
   * @default - none
   */
  readonly tolerations?: readonly Toleration[] | undefined;
  /**
   * Resource requests and limits of the container; annotations of the pods set those of Linkerd's proxy.
   * @default - small requests, and no limits
   */
  readonly resources?: Resources | undefined;
}

/** Labels that a Deployment selects its pods by. */
type PodLabels = Readonly<Record<string, string>>;

const QUANTITY = /^(\d+|\d*\.\d+|\d+\.\d*)([eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i)?$/;

/** A PodDisruptionBudget that lets one pod be unavailable; undefined for a single pod, which it would keep from being drained. */
export const podDisruptionBudget = (
  scope: Construct,
  metadata: { readonly name: string; readonly namespace: string; readonly labels: PodLabels },
  replicas: number,
  pods: PodLabels,
): ApiObject | undefined =>
  replicas > 1
    ? new ApiObject(scope, 'PodDisruptionBudget', {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata,
        spec: { maxUnavailable: 1, selector: { matchLabels: pods } },
      })
    : undefined;

/** Errors of the number and placement of pods. */
export const podPlacementErrors = (props: PodPlacementProps): readonly (FieldError | undefined)[] => [
  atLeast('replicas', props.replicas, 0),
  ...(props.topologySpread ?? []).flatMap(({ topologyKey, maxSkew }, index) => [
    isLabelKey(topologyKey)
      ? undefined
      : fieldError(`topologySpread[${index}].topologyKey`, topologyKey, 'must be a valid label key'),
    atLeast(`topologySpread[${index}].maxSkew`, maxSkew, 1),
  ]),
  ...spreadTwice(props.topologySpread ?? []),
  ...Object.entries(props.nodeSelector ?? {}).map(([key, value]) =>
    isLabelKey(key) && isLabelValue(value)
      ? undefined
      : fieldError(fieldPath('nodeSelector', key), value, 'must be a valid label'),
  ),
  ...(props.tolerations ?? []).flatMap((toleration, index) => tolerationErrors(`tolerations[${index}]`, toleration)),
  ...quantityErrors('resources.requests', props.resources?.requests),
  ...quantityErrors('resources.limits', props.resources?.limits),
  ...limitErrors(props.resources ?? {}),
];

/** The API server takes a key once for each of the two ways to treat pods that do not fit. */
const spreadTwice = (spreads: readonly TopologySpread[]): readonly (FieldError | undefined)[] => {
  const keys = spreads.map(
    ({ topologyKey, whenUnsatisfiable }) => `${topologyKey} ${whenUnsatisfiable ?? 'ScheduleAnyway'}`,
  );
  return spreads.map(({ topologyKey }, index) =>
    keys.indexOf(keys[index] ?? '') < index
      ? fieldError(`topologySpread[${index}].topologyKey`, topologyKey, 'must be unique')
      : undefined,
  );
};

const tolerationErrors = (path: string, { key, operator, value, effect, tolerationSeconds }: Toleration) => [
  key === undefined && operator !== 'Exists'
    ? fieldError(`${path}.key`, undefined, 'is required unless operator is Exists')
    : undefined,
  key !== undefined && !isLabelKey(key) ? fieldError(`${path}.key`, key, 'must be a valid taint key') : undefined,
  value !== undefined && value !== '' && operator === 'Exists'
    ? fieldError(`${path}.value`, value, 'must be empty when operator is Exists')
    : undefined,
  value !== undefined && operator !== 'Exists' && !isLabelValue(value)
    ? fieldError(`${path}.value`, value, 'must be a valid taint value')
    : undefined,
  tolerationSeconds !== undefined && effect !== 'NoExecute'
    ? fieldError(`${path}.tolerationSeconds`, tolerationSeconds, 'may only be used with effect NoExecute')
    : atLeast(`${path}.tolerationSeconds`, tolerationSeconds, 0),
];

const quantityErrors = (
  path: string,
  quantities: Readonly<Record<string, string>> = {},
): readonly (FieldError | undefined)[] =>
  Object.entries(quantities).flatMap(([name, quantity]) => [
    QUANTITY.test(quantity)
      ? undefined
      : fieldError(fieldPath(path, name), quantity, 'must be a valid quantity', 'as in 100m or 64Mi'),
    name.includes('/') || STANDARD.test(name)
      ? undefined
      : fieldError(fieldPath(path, name), quantity, 'must be of a resource of containers', 'as in cpu or memory'),
  ]);

/** Resources that Kubernetes knows without the domain of who defines them. */
const STANDARD = /^(cpu|memory|ephemeral-storage|hugepages-.+)$/;

const limitErrors = ({ requests = {}, limits = {} }: Resources): readonly (FieldError | undefined)[] =>
  Object.entries(requests).map(([name, request]) => {
    const limit = limits[name];
    return limit !== undefined && amount(limit) < amount(request)
      ? fieldError(fieldPath('resources.limits', name), limit, `must not be less than the request of ${request}`)
      : undefined;
  });

/** The number that a quantity stands for; NaN for an invalid quantity. */
const amount = (quantity: string): number => {
  const [, number = '', suffix = ''] = QUANTITY.exec(quantity) ?? [];
  if (/^[eE]/.test(suffix)) return Number(`${number}${suffix}`);
  const power = 'numkMGTPE'.indexOf(suffix.charAt(0));
  if (suffix.endsWith('i')) return Number(number) * 1024 ** ('KMGTPE'.indexOf(suffix.charAt(0)) + 1);
  return number === '' ? NaN : Number(number) * (suffix === '' ? 1 : 1000 ** (power < 3 ? power - 3 : power - 2));
};

const atLeast = (path: string, value: number | undefined, least: number): FieldError | undefined =>
  value === undefined || (Number.isInteger(value) && value >= least)
    ? undefined
    : fieldError(path, value, `must be a whole number of at least ${least}`);
