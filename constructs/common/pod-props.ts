/**
 * Props of the pods of the gateway and of the operator, beside their number and placement.
 */
import { parseDuration } from '../../crds/duration.ts';
import { type FieldError, fieldError, fieldPath } from '../../crds/field-error.ts';
import { isLabelKey, isLabelValue } from '../../crds/names.ts';
import { goDuration, type TimeSpan } from './time-span.ts';
import { podPlacementErrors, type PodPlacementProps } from './pod-placement.ts';
import { dnsSubdomain, nameList } from './prop-rules.ts';

/** A requirement for a label of a node. */
export interface NodeRequirement {
  /** Key of the label. */
  readonly key: string;
  /** Operator that compares the label with the values. */
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  /**
   * Values: one or more for In and NotIn, one integer for Gt and Lt, none for Exists and DoesNotExist.
   * @default - none
   */
  readonly values?: readonly string[] | undefined;
}

/** Nodes whose labels meet all requirements. */
export interface NodeTerm {
  /** Requirements for the labels of a node; all must be met. */
  readonly matchExpressions: readonly NodeRequirement[];
}

/** Nodes that the pods may run on. */
export interface RequiredNodes {
  /** Terms; a node must match at least one. */
  readonly nodeSelectorTerms: readonly NodeTerm[];
}

/** Nodes that the pods prefer. */
export interface PreferredNodes {
  /** Weight of the preference, from 1 to 100. */
  readonly weight: number;
  /** The nodes. */
  readonly preference: NodeTerm;
}

/** Nodes that the pods run on, as `nodeAffinity` of a pod. A node must match at least one of the required terms. */
export interface NodeAffinity {
  /**
   * Nodes that the pods may run on.
   * @default - any node
   */
  readonly requiredDuringSchedulingIgnoredDuringExecution?: RequiredNodes | undefined;
  /**
   * Nodes that the pods prefer, each term with a weight from 1 to 100.
   * @default - no preference
   */
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredNodes[] | undefined;
}

/** Props of a Deployment and its pods. */
export interface PodProps extends PodPlacementProps {
  /**
   * Names of the Secrets, in the same namespace, with the credentials of image registries.
   * @default - none
   */
  readonly imagePullSecrets?: readonly string[] | undefined;
  /**
   * Additional labels of the pods.
   * @default - none
   */
  readonly podLabels?: Readonly<Record<string, string>> | undefined;
  /**
   * Additional annotations of the pods, such as those that configure Linkerd's proxy:
   * `config.linkerd.io/proxy-cpu-request` and others.
   * @default - none
   */
  readonly podAnnotations?: Readonly<Record<string, string>> | undefined;
  /**
   * Annotations of the Deployment.
   * @default - none
   */
  readonly deploymentAnnotations?: Readonly<Record<string, string>> | undefined;
  /**
   * Nodes that the pods run on.
   * @default - any node
   */
  readonly nodeAffinity?: NodeAffinity | undefined;
  /**
   * Time that a pod may take to terminate: a Duration, a Go duration or a number of seconds, in whole seconds.
   * @default 30s
   */
  readonly terminationGracePeriod?: TimeSpan | undefined;
  /**
   * Number of old ReplicaSets to keep for rollbacks.
   * @default 10
   */
  readonly revisionHistoryLimit?: number | undefined;
  /**
   * Numeric user that the container runs as, not root.
   * @default - the user of the image
   */
  readonly runAsUser?: number | undefined;
  /**
   * Numeric group that the container runs as.
   * @default - the number of the user
   */
  readonly runAsGroup?: number | undefined;
}

/** A time in seconds; undefined if it is negative or not a whole number of seconds. */
export const wholeSeconds = (time: TimeSpan): number | undefined => {
  try {
    const seconds = typeof time === 'number' ? time : parseDuration(goDuration(time)) / 1000;
    return Number.isInteger(seconds) && seconds >= 0 ? seconds : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Errors of the props of pods.
 * @param own keys of the labels and annotations of pods that the construct sets
 */
export const podErrors = (props: PodProps, own: readonly string[]): readonly (FieldError | undefined)[] => [
  ...podPlacementErrors(props),
  ...nameList('imagePullSecrets', props.imagePullSecrets, dnsSubdomain, 'Secret'),
  ...keyErrors('podLabels', props.podLabels, own, isLabelValue),
  ...keyErrors('podAnnotations', props.podAnnotations, own, () => true),
  ...keyErrors('deploymentAnnotations', props.deploymentAnnotations, [], () => true),
  ...nodeAffinityErrors('nodeAffinity', props.nodeAffinity ?? {}),
  props.terminationGracePeriod === undefined || wholeSeconds(props.terminationGracePeriod) !== undefined
    ? undefined
    : fieldError(
        'terminationGracePeriod',
        typeof props.terminationGracePeriod === 'number'
          ? props.terminationGracePeriod
          : goDuration(props.terminationGracePeriod),
        'must be a whole number of seconds',
        'as in 30s',
      ),
  wholeNumber('revisionHistoryLimit', props.revisionHistoryLimit, 0),
  wholeNumber('runAsUser', props.runAsUser, 1),
  wholeNumber('runAsGroup', props.runAsGroup, 1),
];

const keyErrors = (
  path: string,
  entries: Readonly<Record<string, string>> = {},
  own: readonly string[],
  isValue: (value: string) => boolean,
): readonly (FieldError | undefined)[] =>
  Object.entries(entries).map(([key, value]) => {
    if (own.includes(key)) return fieldError(fieldPath(path, key), value, 'must not be set: the construct sets it');
    return isLabelKey(key) && isValue(value)
      ? undefined
      : fieldError(fieldPath(path, key), value, `must be a valid ${path.endsWith('abels') ? 'label' : 'annotation'}`);
  });

const nodeAffinityErrors = (path: string, affinity: NodeAffinity): readonly (FieldError | undefined)[] => {
  const required = affinity.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const preferred = affinity.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const requiredPath = `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  const preferredPath = `${path}.preferredDuringSchedulingIgnoredDuringExecution`;
  return [
    required?.length === 0 ? fieldError(requiredPath, required, 'must not be empty') : undefined,
    ...(required ?? []).flatMap((term, index) => termErrors(`${requiredPath}[${index}]`, term)),
    ...preferred.flatMap(({ weight, preference }, index) => [
      Number.isInteger(weight) && weight >= 1 && weight <= 100
        ? undefined
        : fieldError(`${preferredPath}[${index}].weight`, weight, 'must be a whole number between 1 and 100'),
      ...termErrors(`${preferredPath}[${index}].preference`, preference),
    ]),
  ];
};

const termErrors = (path: string, { matchExpressions }: NodeTerm): readonly (FieldError | undefined)[] => [
  matchExpressions.length === 0
    ? fieldError(`${path}.matchExpressions`, matchExpressions, 'must not be empty')
    : undefined,
  ...matchExpressions.flatMap(({ key, operator, values = [] }, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    return [
      isLabelKey(key) ? undefined : fieldError(`${at}.key`, key, 'must be a valid label key'),
      valuesError(at, operator, values),
    ];
  }),
];

const valuesError = (path: string, operator: NodeRequirement['operator'], values: readonly string[]) => {
  const wrong = (reason: string): FieldError => fieldError(`${path}.values`, values, reason);
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? undefined : wrong(`must not be empty when operator is ${operator}`);
    case 'Gt':
    case 'Lt':
      return values.length === 1 && /^\d+$/.test(values[0] ?? '')
        ? undefined
        : wrong(`must be one integer when operator is ${operator}`);
    default:
      return values.length === 0 ? undefined : wrong(`must be empty when operator is ${operator}`);
  }
};

const wholeNumber = (path: string, value: number | undefined, least: number): FieldError | undefined =>
  value === undefined || (Number.isInteger(value) && value >= least)
    ? undefined
    : fieldError(path, value, `must be a whole number of at least ${least}`);
