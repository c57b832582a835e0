/**
 * The JSON schema of a cluster file, `linkspan.yaml`: the props of a ClusterSet, and of an ArgoCd, as YAML has them, for
 * editors and for `linkspan synth`. It lists the fields and their types; the constructs check their values, and report
 * them in their own words. Unknown fields are refused here, since a misspelt one would be silently
 * without effect.
 */
import { defaultText, type OperatorSetting, type PropName, propSettings } from '../../crds/operator-settings.ts';

const text = (description: string) => ({ type: 'string', description }) as const;

const texts = (description: string) => ({ type: 'array', description, items: { type: 'string' } }) as const;

const flag = (description: string) => ({ type: 'boolean', description }) as const;

/** A length of time, as TimeSpan is in props. */
const time = (description: string) => ({ type: ['string', 'number'], description }) as const;

const integer = (description: string) => ({ type: 'integer', description }) as const;

const choice = <const T extends readonly string[]>(description: string, ...values: T) =>
  ({ type: 'string', description, enum: values }) as const;

const map = (description: string) =>
  ({ type: 'object', description, additionalProperties: { type: 'string' } }) as const;

const object = <const P extends object, const R extends readonly (keyof P)[]>(
  description: string,
  properties: P,
  ...required: R
) => ({ type: 'object', description, additionalProperties: false, required, properties }) as const;

/** False, or a value of the schema; errors of a value are those of the schema alone. */
const falseOr = <const S extends object>(description: string, schema: S) =>
  ({ description, if: { type: 'boolean' }, then: { enum: [false] }, else: schema }) as const;

const nodeTerm = object(
  'Nodes that meet all of its requirements',
  {
    matchExpressions: {
      type: 'array',
      description: 'Requirements',
      items: object(
        'A requirement',
        {
          key: text('Key of the label'),
          operator: choice('How it is compared', 'In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'),
          values: texts('Values, for In and NotIn; one number for Gt and Lt'),
        },
        'key',
        'operator',
      ),
    },
  },
  'matchExpressions',
);

/** Props of a Deployment and its pods. */
const pods = {
  imagePullSecrets: texts('Names of the Secrets that hold the credentials of image registries'),
  podLabels: map('Further labels of the pods'),
  podAnnotations: map("Further annotations of the pods, such as those that Linkerd's proxy is set up by"),
  deploymentAnnotations: map('Annotations of the Deployment itself'),
  nodeAffinity: object('Which nodes to run on', {
    requiredDuringSchedulingIgnoredDuringExecution: object(
      'Where it must run',
      { nodeSelectorTerms: { type: 'array', description: 'Terms of which one must hold', items: nodeTerm } },
      'nodeSelectorTerms',
    ),
    preferredDuringSchedulingIgnoredDuringExecution: {
      type: 'array',
      description: 'Where it should run',
      items: object('A preference', { weight: integer('1 to 100'), preference: nodeTerm }, 'weight', 'preference'),
    },
  }),
  terminationGracePeriod: time('Time that a pod may take to end: seconds, or a Go duration; default 30s'),
  revisionHistoryLimit: integer('Number of old ReplicaSets to keep; default 10'),
  runAsUser: integer('Numeric user of the container; default that of the image'),
  runAsGroup: integer('Numeric group of the container; default the number of the user'),
} as const;

/** Props of a Deployment's size and place. */
const placement = {
  ...pods,
  replicas: integer('Number of pods'),
  antiAffinity: choice('Whether two pods may share a node; default preferred', 'required', 'preferred', 'none'),
  topologySpread: {
    type: 'array',
    description: 'Spread over zones, racks and the like; default over zones',
    items: object(
      'Keeps the pods spread over the values of a node label',
      {
        topologyKey: text('The label, as in topology.kubernetes.io/zone'),
        maxSkew: integer('How many more pods one value may have than another; default 1'),
        whenUnsatisfiable: choice('Default ScheduleAnyway', 'ScheduleAnyway', 'DoNotSchedule'),
      },
      'topologyKey',
    ),
  },
  nodeSelector: map('Labels of the nodes to run on'),
  tolerations: {
    type: 'array',
    description: 'Taints of nodes to put up with',
    items: object('A taint', {
      key: text('Key of the taint; default every key'),
      operator: choice('Default Equal', 'Equal', 'Exists'),
      value: text('Value of the taint'),
      effect: choice('Default every effect', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'),
      tolerationSeconds: integer('Seconds that a pod stays on a node that gets the taint'),
    }),
  },
  resources: object("Resources of each pod's container", {
    requests: map('Quantities such as 100m and 64Mi'),
    limits: map('Quantities such as 100m and 64Mi'),
  }),
} as const;

const gateway = object('The gateway; default a LoadBalancer with three replicas', {
  ...placement,
  image: text('Image of the container beside the proxy, which does nothing'),
  probePath: text('Path of the health endpoint; default /ready'),
  probePeriod: time('Time between the probes of other clusters: seconds, or a Go duration; default 3s'),
  service: object('How the gateway is reached', {
    type: choice('Default LoadBalancer', 'LoadBalancer', 'NodePort', 'ClusterIP'),
    loadBalancerClass: text('Which implementation makes the load balancer'),
    loadBalancerIP: text('Address that the load balancer is to have'),
    loadBalancerSourceRanges: texts('Networks in CIDR notation that the load balancer lets in'),
    externalTrafficPolicy: choice("Local keeps the clients' addresses", 'Cluster', 'Local'),
    healthCheckNodePort: integer('Node port that the load balancer asks which nodes have a gateway'),
    port: integer('Port of the gateway; default 4143'),
    probePort: integer('Port of the health endpoint; default 4191'),
    nodePort: integer('Node port of the gateway; required for NodePort'),
    probeNodePort: integer('Node port of the health endpoint; required for NodePort'),
    annotations: map("Annotations that a cloud's load balancers are set up by"),
  }),
});

const member = object(
  'One cluster',
  {
    name: text('Name of the cluster, and the end of the names of its mirrors'),
    clusterDomain: text('DNS domain of the cluster; default cluster.local'),
    trustDomain: text('Identity trust domain of its Linkerd; default the cluster domain'),
    gatewayAddresses: texts('IP addresses of its gateway, or host names that it is going to have'),
    gateway,
    apiServer: object(
      'Its API server, as other clusters reach it; required unless credentials are left out',
      {
        url: text('URL; https'),
        caData: text('CA certificates: PEM, in base64, as certificate-authority-data of a kubeconfig'),
        tlsServerName: text("Name in the server's certificate, where it is not the host of the URL"),
      },
      'url',
      'caData',
    ),
    exportNamespaces: texts('The only namespaces that other clusters may read; default all; not for a flat network'),
    networks: texts('Networks in CIDR notation that its requests to gateways come from; default any'),
  },
  'name',
);

const serviceAccounts = (description: string) =>
  ({
    type: 'array',
    description,
    items: object(
      'A ServiceAccount of the same cluster',
      { name: text('Its name'), namespace: text('Its namespace') },
      'name',
      'namespace',
    ),
  }) as const;

const labelSelector = (description: string) =>
  object(description, {
    matchLabels: map('Labels that it has'),
    matchExpressions: {
      type: 'array',
      description: 'Requirements',
      items: object(
        'A requirement',
        {
          key: text('Key of the label'),
          operator: choice('How it is compared', 'In', 'NotIn', 'Exists', 'DoesNotExist'),
          values: texts('Values, for In and NotIn'),
        },
        'key',
        'operator',
      ),
    },
  });

const networkPolicy = falseOr(
  'Who may connect to the pods; false for no NetworkPolicy, default anybody, to the ports in use',
  object(
    'A NetworkPolicy',
    {
      from: {
        type: 'array',
        description: 'Peers that may connect',
        items: object('A peer', {
          podSelector: labelSelector('Pods; an empty selector is all of them'),
          namespaceSelector: labelSelector('Namespaces; an empty selector is all of them'),
          ipBlock: object('A network', { cidr: text('In CIDR notation'), except: texts('Parts that may not') }, 'cidr'),
        }),
      },
    },
    'from',
  ),
);

/** A setting as YAML has it; what it may hold is checked by the construct. */
const settingSchema = (setting: OperatorSetting): object => {
  const description = `${setting.text.charAt(0).toUpperCase()}${setting.text.slice(1)}; default ${setting.propDefault ?? defaultText(setting)}`;
  switch (setting.type) {
    case 'switch':
      return flag(description);
    case 'integer':
      return integer(description);
    case 'choice':
      return choice(description, ...setting.values);
    case 'duration':
      return time(`${description}; seconds, or a Go duration`);
    case 'names':
      return texts(description.replace(', separated by commas', ''));
    default:
      return text(description);
  }
};

const settings = Object.fromEntries(propSettings.map(([name, setting]) => [name, settingSchema(setting)])) as {
  readonly [Name in PropName]: object;
};

const operator = object(
  'The operator, in every cluster that has a target',
  {
    ...placement,
    image: text('Image of Linkspan, with tag or digest'),
    imagePullPolicy: choice("Default the kubelet's", 'Always', 'IfNotPresent', 'Never'),
    meshed: flag("Whether Linkerd's proxy is put into the pods; default true"),
    adminPort: integer('Port of /healthz, /readyz and /metrics; default 9999'),
    networkPolicy,
    scrapers: serviceAccounts('The only ServiceAccounts that may use the admin port, in the mesh; default anybody'),
    adminHost: choice('Address that the admin port listens on', '0.0.0.0', '::'),
    env: map('Further environment variables of the container'),
    ...settings,
    credentialsSecrets: choice('Default those that the Links name, and no others; any for Links made elsewhere', 'any'),
  },
  'image',
);

const monitoring = object('What Prometheus and Grafana get of each operator; default none', {
  labels: map('Labels that Prometheus selects its ServiceMonitors and rules by'),
  monitor: flag('Whether there is a ServiceMonitor; default true'),
  alerts: falseOr('What is otherwise of each alert; false for no alerts, default all as they are', {
    type: 'object',
    description: 'Alerts by their names, without the Linkspan that these start with',
    additionalProperties: falseOr(
      'What is otherwise of an alert; false leaves it out',
      object('Settings of an alert', {
        for: time('For how long it must be so: seconds, or a duration as in 5m'),
        severity: text('Label severity of the alert'),
        threshold: { type: 'number', description: 'The value that it is about when exceeded' },
      }),
    ),
  }),
  dashboard: falseOr(
    "How Grafana's sidecar finds the dashboard; false for none, default by its usual label",
    object('A dashboard', {
      name: text('Name of the ConfigMap; default linkspan-dashboard'),
      namespace: text("Namespace of the ConfigMap; default the operator's"),
      label: text('Label that the sidecar looks for; default grafana_dashboard'),
      labelValue: text('Value of that label; default 1'),
      folder: text('Folder in Grafana'),
    }),
  ),
});

const argoCd = object(
  'Applications for Argo CD, one for the folder of each cluster; default none',
  {
    repoUrl: text('URL of the Git repository'),
    revision: text('Branch, tag or commit; default HEAD'),
    path: text('Folder of the repository that is written to, empty for its root; default clusters'),
    namespace: text('Namespace of Argo CD; default argocd'),
    project: text('Name of the project, and the start of the names of Applications; default linkspan'),
    destinations: {
      type: 'object',
      description: 'Clusters by their names here; default each is registered in Argo CD by that name',
      additionalProperties: object('A cluster as it is registered in Argo CD, by one of its name and its URL', {
        name: text('Name of the cluster'),
        server: text('URL of the API server; https'),
      }),
    },
    applications: choice('An Application each, or an ApplicationSet; default each', 'each', 'application-set'),
    automated: falseOr(
      'How a commit is synced without being asked; false for only when asked',
      object('An automated sync', {
        prune: flag('Whether it removes what is no longer in Git; default true'),
        selfHeal: flag('Whether it puts right what was changed in the cluster; default true'),
      }),
    ),
    root: flag('Whether there is an Application for the Applications; default true'),
    health: flag("Whether the health of Links is written into Argo CD's own ConfigMap; default false"),
  },
  'repoUrl',
);

/** Schema of a cluster file. */
export const CLUSTER_SET_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'ClusterSet',
  ...object(
    "Clusters that use each other's Services: who they are, and how they are linked",
    {
      members: { type: 'array', description: 'The clusters; each name once', items: member },
      topology: object(
        'How they are linked; default full mesh',
        {
          type: choice(
            'Each with each, each hub with each other, or as listed',
            'full-mesh',
            'hub-and-spokes',
            'pairs',
          ),
          hubs: texts('Names of the hubs, for hub-and-spokes'),
          pairs: {
            type: 'array',
            description: 'For pairs; both ways between two clusters are two pairs',
            items: object(
              'One direction between two clusters',
              { source: text('The cluster that mirrors'), target: text('The cluster that exports') },
              'source',
              'target',
            ),
          },
        },
        'type',
      ),
      operator,
      monitoring,
      credentials: object(
        'What stands for the credentials of targets, whose tokens are never written; default left out',
        {
          type: choice(
            'An ExternalSecret of external-secrets, a Secret without a token, or nothing',
            'external-secret',
            'placeholder',
            'left-out',
          ),
          store: object(
            'The store of tokens, for external-secret',
            {
              name: text('Name of the store'),
              kind: choice('Default ClusterSecretStore', 'ClusterSecretStore', 'SecretStore'),
            },
            'name',
          ),
          keyPrefix: text('Tokens are under <keyPrefix>/<source>/<target>; default linkspan'),
        },
        'type',
      ),
      flat: flag('Whether pods reach those of other clusters, for flat and federated mode; default false'),
      scrapers: serviceAccounts(
        "ServiceAccounts that may read the metrics of the gateway's proxy; default prometheus in linkerd-viz",
      ),
      linkerdController: flag(
        "Whether Linkerd's own controller and linkerd multicluster check can use the accounts too; default true",
      ),
      namespace: text('Namespace of the multicluster extension; default linkerd-multicluster'),
      podSecurity: choice(
        "Pod Security Standard of that namespace; restricted with Linkerd's CNI plugin, default privileged",
        'privileged',
        'restricted',
      ),
      linkerdNamespace: text("Namespace of Linkerd's control plane; default linkerd"),
      argoCd,
    },
    'members',
    'operator',
  ),
} as const;
