/** Schemas of the props of a Deployment's size and place. */
import { choice, integer, list, map, object, text, texts, time } from './schema.ts';

const nodeTerm = object(
  'Nodes that meet all of its requirements',
  {
    matchExpressions: list(
      'Requirements',
      object(
        'A requirement',
        {
          key: text('Key of the label'),
          operator: choice('How it is compared', 'In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'),
          values: texts('Values, for In and NotIn; one number for Gt and Lt'),
        },
        'key',
        'operator',
      ),
    ),
  },
  'matchExpressions',
);

/** The properties of PodProps. */
export const PODS = {
  imagePullSecrets: texts('Names of the Secrets that hold the credentials of image registries'),
  podLabels: map('Further labels of the pods'),
  podAnnotations: map("Further annotations of the pods, such as those that Linkerd's proxy is set up by"),
  deploymentAnnotations: map('Annotations of the Deployment itself'),
  nodeAffinity: object('Which nodes to run on', {
    requiredDuringSchedulingIgnoredDuringExecution: object(
      'Where it must run',
      { nodeSelectorTerms: list('Terms of which one must hold', nodeTerm) },
      'nodeSelectorTerms',
    ),
    preferredDuringSchedulingIgnoredDuringExecution: list(
      'Where it should run',
      object('A preference', { weight: integer('1 to 100'), preference: nodeTerm }, 'weight', 'preference'),
    ),
  }),
  terminationGracePeriod: time('Time that a pod may take to end: seconds, or a Go duration; default 30s'),
  revisionHistoryLimit: integer('Number of old ReplicaSets to keep; default 10'),
  runAsUser: integer('Numeric user of the container; default that of the image'),
  runAsGroup: integer('Numeric group of the container; default the number of the user'),
  replicas: integer('Number of pods'),
  antiAffinity: choice('Whether two pods may share a node; default preferred', 'required', 'preferred', 'none'),
  topologySpread: list(
    'Spread over zones, racks and the like; default over zones',
    object(
      'Keeps the pods spread over the values of a node label',
      {
        topologyKey: text('The label, as in topology.kubernetes.io/zone'),
        maxSkew: integer('How many more pods one value may have than another; default 1'),
        whenUnsatisfiable: choice('Default ScheduleAnyway', 'ScheduleAnyway', 'DoNotSchedule'),
      },
      'topologyKey',
    ),
  ),
  nodeSelector: map('Labels of the nodes to run on'),
  tolerations: list(
    'Taints of nodes to put up with',
    object('A taint', {
      key: text('Key of the taint; default every key'),
      operator: choice('Default Equal', 'Equal', 'Exists'),
      value: text('Value of the taint'),
      effect: choice('Default every effect', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'),
      tolerationSeconds: integer('Seconds that a pod stays on a node that gets the taint'),
    }),
  ),
  resources: object("Resources of each pod's container", {
    requests: map('Quantities such as 100m and 64Mi'),
    limits: map('Quantities such as 100m and 64Mi'),
  }),
} as const;

/** Image and the like. */
export const PULL_POLICY = choice("Default the kubelet's", 'Always', 'IfNotPresent', 'Never');
