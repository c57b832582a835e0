/**
 * A restricted Deployment of cdk8s-plus with one container, which selects its pods by labels of the wire contract. JSON
 * patches add the fields that cdk8s-plus has no props for. Each patches one field, so that changes of a user (tolerate,
 * attract, addContainer, an autoscaler) are rendered too. cdk8s-plus applies patches to its own form of an object, in
 * which a quantity is `{ value }`.
 */
import { ApiObjectMetadataDefinition, Duration, JsonPatch, Size } from 'cdk8s';
import {
  type ContainerProps,
  type ContainerResources,
  Cpu,
  Deployment,
  type DeploymentProps,
  DeploymentStrategy,
  ImagePullPolicy,
  type IServiceAccount,
  LabelSelector,
  Node,
  NodeLabelQuery,
  NodeTaintQuery,
  PercentOrAbsolute,
  Pods,
  type PodSelectorConfig,
  type ScalingTarget,
  type ServiceAccount,
  TaintEffect,
  Topology,
} from 'cdk8s-plus-27';
import type { Construct } from 'constructs';
import type { Resources, Toleration, TopologySpread } from './pod-placement.ts';
import { type NodeRequirement, type NodeTerm, type PodProps, wholeSeconds } from './pod-props.ts';
import { RUNTIME_DEFAULT } from './restricted.ts';

type Labels = Readonly<Record<string, string>>;

/** Properties of {@link RestrictedDeployment}. */
export interface RestrictedDeploymentProps {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Labels };
  /** Labels that the Deployment selects its pods by. The selector is immutable. */
  readonly pods: Labels;
  /** Labels and annotations of the pods. */
  readonly podMetadata: { readonly labels: Labels; readonly annotations: Labels };
  readonly serviceAccount: ServiceAccount;
  /** Whether the token of the ServiceAccount is mounted. */
  readonly automountServiceAccountToken: boolean;
  /** Number of pods, unless the user or an autoscaler sets it. */
  readonly replicas: number;
  readonly container: Omit<ContainerProps, 'securityContext' | 'resources' | 'imagePullPolicy'>;
  /** Default resources of the container. */
  readonly resources: Resources;
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never' | undefined;
  /** User of the image, and its group. */
  readonly user: number;
  /** Props of the user. */
  readonly props: PodProps;
}

const POD = '/spec/template/spec';
/** Our container is the first; containers of a user follow. */
const CONTAINER = `${POD}/containers/0`;
const ZONES: readonly TopologySpread[] = [{ topologyKey: 'topology.kubernetes.io/zone' }];

/** A Deployment that meets the Pod Security Standard `restricted`, and takes {@link PodProps}. */
export class RestrictedDeployment extends Deployment {
  readonly #pods: Labels;
  readonly #podMetadata: ApiObjectMetadataDefinition;
  readonly #fixedReplicas: number | undefined;

  constructor(scope: Construct, id: string, given: RestrictedDeploymentProps) {
    const { podMetadata, pods, props, container } = given;
    super(scope, id, deploymentProps(given));
    this.#pods = pods;
    this.#fixedReplicas = props.replicas;
    this.#podMetadata = new ApiObjectMetadataDefinition({
      labels: { ...props.podLabels, ...podMetadata.labels },
      annotations: { ...podMetadata.annotations, ...props.podAnnotations },
      apiObject: this.apiObject,
    });
    if (props.deploymentAnnotations !== undefined)
      for (const [key, value] of Object.entries(props.deploymentAnnotations)) this.metadata.addAnnotation(key, value);
    this.select(LabelSelector.of({ labels: pods }));
    this.addContainer({ ...container, ...containerProps(given) });
    this.#schedule(Pods.select(this, 'Pods', { labels: pods }), props);
    this.apiObject.addJsonPatch(...containerPatches(given), ...podPatches(props, pods));
  }

  /** Metadata without the label that cdk8s-plus adds to select the pods: our labels select them. */
  override get podMetadata(): ApiObjectMetadataDefinition {
    return this.#podMetadata;
  }

  override toPodSelectorConfig(): PodSelectorConfig {
    const { namespace } = this.metadata;
    return {
      labelSelector: LabelSelector.of({ labels: this.#pods }),
      ...(namespace !== undefined && { namespaces: { names: [namespace] } }),
    };
  }

  /** An autoscaler replaces the default number of pods, but not one that the user has set. */
  override toScalingTarget(): ScalingTarget {
    const { replicas: _, ...target } = super.toScalingTarget();
    return { ...target, ...(this.#fixedReplicas !== undefined && { replicas: this.#fixedReplicas }) };
  }

  #schedule(pods: Pods, { antiAffinity = 'preferred', tolerations = [], nodeAffinity = {} }: PodProps): void {
    const topology = Topology.HOSTNAME;
    if (antiAffinity === 'preferred') this.scheduling.separate(pods, { topology, weight: 100 });
    if (antiAffinity === 'required') this.scheduling.separate(pods, { topology });
    for (const toleration of tolerations) this.scheduling.tolerate(Node.tainted(taint(toleration)));
    const { requiredDuringSchedulingIgnoredDuringExecution: required } = nodeAffinity;
    const { preferredDuringSchedulingIgnoredDuringExecution: preferred = [] } = nodeAffinity;
    for (const term of required?.nodeSelectorTerms ?? []) this.scheduling.attract(labelled(term));
    for (const { weight, preference } of preferred) this.scheduling.attract(labelled(preference), { weight });
  }
}

const PULL_POLICIES = {
  Always: ImagePullPolicy.ALWAYS,
  IfNotPresent: ImagePullPolicy.IF_NOT_PRESENT,
  Never: ImagePullPolicy.NEVER,
} as const;
const TAINT_EFFECTS = {
  NoSchedule: TaintEffect.NO_SCHEDULE,
  PreferNoSchedule: TaintEffect.PREFER_NO_SCHEDULE,
  NoExecute: TaintEffect.NO_EXECUTE,
} as const;

const deploymentProps = (given: RestrictedDeploymentProps): DeploymentProps => {
  const { metadata, serviceAccount, automountServiceAccountToken, props } = given;
  const grace = props.terminationGracePeriod === undefined ? undefined : wholeSeconds(props.terminationGracePeriod);
  return {
    metadata,
    serviceAccount: serviceAccount as IServiceAccount,
    automountServiceAccountToken,
    select: false,
    replicas: props.replicas ?? given.replicas,
    ...(grace !== undefined && { terminationGracePeriod: Duration.seconds(grace) }),
    // Where two pods must not share a node, there may be no node for one more: Kubernetes' own strategy, under which a
    // quarter of few pods is none, would then wait for ever.
    ...(props.antiAffinity === 'required' && {
      strategy: DeploymentStrategy.rollingUpdate({ maxUnavailable: PercentOrAbsolute.absolute(1) }),
    }),
  };
};

const containerProps = ({ resources, imagePullPolicy, user, props }: RestrictedDeploymentProps) => ({
  resources: containerResources(props.resources ?? resources),
  ...(imagePullPolicy !== undefined && { imagePullPolicy: PULL_POLICIES[imagePullPolicy] }),
  securityContext: {
    user: props.runAsUser ?? user,
    group: props.runAsGroup ?? props.runAsUser ?? user,
  },
});

const containerPatches = ({ resources, imagePullPolicy, props }: RestrictedDeploymentProps): readonly JsonPatch[] => [
  JsonPatch.add(`${CONTAINER}/resources`, quantities(props.resources ?? resources)),
  JsonPatch.add(`${CONTAINER}/securityContext/capabilities`, { drop: ['ALL'] }),
  JsonPatch.add(`${CONTAINER}/securityContext/seccompProfile`, RUNTIME_DEFAULT),
  // What it is by default depends on the tag of the image, and is best known to the API server.
  ...(imagePullPolicy === undefined ? [JsonPatch.remove(`${CONTAINER}/imagePullPolicy`)] : []),
];

const quantities = ({ requests, limits }: Resources) => {
  const values = (named: Labels) => Object.fromEntries(Object.entries(named).map(([name, value]) => [name, { value }]));
  return { ...(requests && { requests: values(requests) }), ...(limits && { limits: values(limits) }) };
};

const podPatches = (props: PodProps, pods: Labels): readonly JsonPatch[] => {
  const optional = (path: string, value: unknown): readonly JsonPatch[] =>
    value === undefined ? [] : [JsonPatch.add(path, value)];
  return [
    JsonPatch.add(`${POD}/securityContext`, { seccompProfile: RUNTIME_DEFAULT }),
    JsonPatch.add(`${POD}/topologySpreadConstraints`, spreadConstraints(props.topologySpread ?? ZONES, pods)),
    ...optional(`${POD}/nodeSelector`, props.nodeSelector),
    ...optional(
      `${POD}/imagePullSecrets`,
      props.imagePullSecrets?.map((name) => ({ name })),
    ),
    ...optional('/spec/revisionHistoryLimit', props.revisionHistoryLimit),
  ];
};

const spreadConstraints = (spread: readonly TopologySpread[], pods: Labels): readonly object[] =>
  spread.map(({ topologyKey, maxSkew = 1, whenUnsatisfiable = 'ScheduleAnyway' }) => ({
    topologyKey,
    maxSkew,
    whenUnsatisfiable,
    labelSelector: { matchLabels: pods },
  }));

const taint = ({ key = '', operator, value = '', effect, tolerationSeconds }: Toleration): NodeTaintQuery => {
  const options = {
    ...(effect !== undefined && { effect: TAINT_EFFECTS[effect] }),
    ...(tolerationSeconds !== undefined && { evictAfter: Duration.seconds(tolerationSeconds) }),
  };
  if (operator !== 'Exists') return NodeTaintQuery.is(key, value, options);
  return key === '' && effect === undefined ? NodeTaintQuery.any() : NodeTaintQuery.exists(key, options);
};

const labelled = ({ matchExpressions }: NodeTerm) => Node.labeled(...matchExpressions.map(labelQuery));

const labelQuery = ({ key, operator, values = [] }: NodeRequirement): NodeLabelQuery => {
  switch (operator) {
    case 'In':
      return NodeLabelQuery.in(key, [...values]);
    case 'NotIn':
      return NodeLabelQuery.notIn(key, [...values]);
    case 'Gt':
      return NodeLabelQuery.gt(key, [...values]);
    case 'Lt':
      return NodeLabelQuery.lt(key, [...values]);
    case 'Exists':
      return NodeLabelQuery.exists(key);
    case 'DoesNotExist':
      return NodeLabelQuery.doesNotExist(key);
  }
};

/**
 * Quantities as cdk8s-plus has them, for what asks a container for them, such as an autoscaler. It has no words for all
 * that Kubernetes takes: what is rendered is the text that the user gives.
 */
const containerResources = ({ requests = {}, limits = {} }: Resources): ContainerResources => {
  const pair = <T>(of: (quantity: string | undefined) => T | undefined, name: string) => {
    const [request, limit] = [of(requests[name]), of(limits[name])];
    return { ...(request !== undefined && { request }), ...(limit !== undefined && { limit }) };
  };
  return { cpu: pair(cpu, 'cpu'), memory: pair(memory, 'memory') };
};

const cpu = (quantity = ''): Cpu | undefined => {
  if (/^\d+m$/.test(quantity)) return Cpu.millis(Number.parseInt(quantity));
  return /^\d+(\.\d+)?$/.test(quantity) ? Cpu.units(Number(quantity)) : undefined;
};

const memory = (quantity = ''): Size | undefined => {
  const amount = Number.parseInt(quantity);
  if (/^\d+Mi$/.test(quantity)) return Size.mebibytes(amount);
  return /^\d+Gi$/.test(quantity) ? Size.gibibytes(amount) : undefined;
};
