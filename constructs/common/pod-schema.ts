/** Schemas of the props of a Deployment and its pods. */
import { choice, integer, list, map, object, text, texts, time } from './schema.ts';

const nodeTerm = object(
  'Nodes whose labels meet all requirements',
  {
    matchExpressions: list(
      'Requirements for the labels of a node; all must be met',
      object(
        'A requirement',
        {
          key: text('Key of the label'),
          operator: choice(
            'Operator that compares the label with the values',
            'In',
            'NotIn',
            'Exists',
            'DoesNotExist',
            'Gt',
            'Lt',
          ),
          values: texts(
            'Values: one or more for In and NotIn, one integer for Gt and Lt, none for Exists and DoesNotExist; default none',
          ),
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
  imagePullSecrets: texts(
    'Names of the Secrets, in the same namespace, with the credentials of image registries; default none',
  ),
  podLabels: map('Additional labels of the pods; default none'),
  podAnnotations: map("Additional annotations of the pods, such as those that configure Linkerd's proxy; default none"),
  deploymentAnnotations: map('Annotations of the Deployment; default none'),
  nodeAffinity: object('Nodes that the pods run on; default any node', {
    requiredDuringSchedulingIgnoredDuringExecution: object(
      'Nodes that the pods may run on; default any node',
      { nodeSelectorTerms: list('Terms; a node must match at least one', nodeTerm) },
      'nodeSelectorTerms',
    ),
    preferredDuringSchedulingIgnoredDuringExecution: list(
      'Nodes that the pods prefer; default no preference',
      object(
        'A preference',
        { weight: integer('Weight of the preference, from 1 to 100'), preference: nodeTerm },
        'weight',
        'preference',
      ),
    ),
  }),
  terminationGracePeriod: time('Time that a pod may take to terminate: whole seconds, or a Go duration; default 30s'),
  revisionHistoryLimit: integer('Number of old ReplicaSets to keep for rollbacks; default 10'),
  runAsUser: integer('Numeric user that the container runs as, not root; default the user of the image'),
  runAsGroup: integer('Numeric group that the container runs as; default the number of the user'),
  antiAffinity: choice(
    'Whether two pods must not share a node (required), should not (preferred) or may (none); default preferred',
    'required',
    'preferred',
    'none',
  ),
  topologySpread: list(
    'Topologies that the pods are spread over, such as zones and racks; default zones, where nodes are labelled with them',
    object(
      'A topology that the pods are spread over: the values of a node label',
      {
        topologyKey: text('Key of the node label, as in topology.kubernetes.io/zone'),
        maxSkew: integer('Maximum difference between the numbers of pods of two values; default 1'),
        whenUnsatisfiable: choice(
          'Whether a pod that cannot be spread is scheduled anyway or waits; default ScheduleAnyway',
          'ScheduleAnyway',
          'DoNotSchedule',
        ),
      },
      'topologyKey',
    ),
  ),
  nodeSelector: map('Labels that a node must have; default none'),
  tolerations: list(
    'Taints of nodes that the pods tolerate; default none',
    object('A taint that the pods tolerate', {
      key: text('Key of the taint; default every key, with operator Exists'),
      operator: choice('Equal compares the value, Exists tolerates every value; default Equal', 'Equal', 'Exists'),
      value: text('Value of the taint, for Equal; default the empty value'),
      effect: choice('Effect of the taint; default every effect', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'),
      tolerationSeconds: integer('Seconds that a pod stays on a node that gets a NoExecute taint; default forever'),
    }),
  ),
  resources: object('Resource requests and limits of the container; default small requests, and no limits', {
    requests: map('Quantities that are reserved for the container, such as 100m and 64Mi; default none'),
    limits: map('Quantities that the container may use at most, such as 100m and 64Mi; default none'),
  }),
} as const;

/** The policy for pulling the image. */
export const PULL_POLICY = choice(
  'When the kubelet pulls the image; default Always for tag latest, else IfNotPresent',
  'Always',
  'IfNotPresent',
  'Never',
);
