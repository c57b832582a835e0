/**
 * The JSON schema of a cluster file, `linkspan.yaml`: the props of a ClusterSet as YAML has them, for editors and for
 * `linkspan synth`. It says which fields there are and of what type; what they may hold is said by the constructs, in
 * whose words it is then refused. Unknown fields are refused here, since a misspelt one would be silently without effect.
 */

const text = (description: string) => ({ type: 'string', description }) as const;

const texts = (description: string) => ({ type: 'array', description, items: { type: 'string' } }) as const;

const flag = (description: string) => ({ type: 'boolean', description }) as const;

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

/** Props of a Deployment's size and place. */
const placement = {
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
  probePeriod: text('Time between the probes of other clusters, as a Go duration; default 3s'),
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
    networks: texts('Networks in CIDR notation that its requests to gateways come from; default any'),
  },
  'name',
);

const operator = object(
  'The operator, in every cluster that has a target',
  {
    ...placement,
    image: text('Image of Linkspan, with tag or digest'),
    imagePullPolicy: choice("Default the kubelet's", 'Always', 'IfNotPresent', 'Never'),
    meshed: flag("Whether Linkerd's proxy is put into the pods; default true"),
    adminPort: integer('Port of /healthz, /readyz and /metrics; default 9999'),
    adminHost: choice('Address that the admin port listens on', '0.0.0.0', '::'),
    enableHeadlessServices: flag('Mirror headless Services pod by pod; default false'),
    enableNamespaceCreation: flag('Create namespaces that mirrors need; default false'),
    mirrorNamespaces: texts('The only namespaces that mirrors are written to'),
    endpoints: choice('What to write for a mirror; default endpoints', 'endpoints', 'slices'),
    probeVia: choice('How gateways are probed', 'service', 'address'),
    gatewayResolvePeriod: text('How often host names of gateways are resolved anew; default 60s'),
    leaseDuration: text('How long a Lease that is not renewed still has its holder; default 30s'),
    renewDeadline: text('How long a renewal is tried before the Lease counts as lost; default 10s'),
    retryPeriod: text('Wait between tries to acquire or renew a Lease; default 2s'),
    concurrency: integer('Reconciles at once per Link; default 16'),
    logLevel: choice('Default info', 'debug', 'info', 'warn', 'error'),
    logFormat: choice('Default json', 'json', 'pretty'),
  },
  'image',
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
      namespace: text('Namespace of the multicluster extension; default linkerd-multicluster'),
      linkerdNamespace: text("Namespace of Linkerd's control plane; default linkerd"),
    },
    'members',
    'operator',
  ),
} as const;
