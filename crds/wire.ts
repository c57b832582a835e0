/**
 * The wire contract: every name, label and annotation that software we do not own reads from what we write.
 * Linkerd's destination controller and proxies, `linkerd multicluster check|gateways`, CoreDNS and kube-proxy read
 * these; a spelling is fixed once, here, and nothing else in the code spells one out.
 */

/** What the keys of labels and annotations of Linkerd's multicluster extension start with, before the slash. */
export const LINKERD_DOMAINS: readonly string[] = ['mirror.linkerd.io', 'multicluster.linkerd.io'];

/** What the keys of our own labels and annotations start with, before the slash. */
export const OWN_DOMAIN = 'linkspan.dev';

/** Labels on exported Services, mirrors and credentials. */
export const Label = {
  /** On a target Service: `"true"` exports it through the gateway, `remote-discovery` flat. */
  exported: 'mirror.linkerd.io/exported',
  /** On a target Service: `member` joins the federated Service of its name. */
  federated: 'mirror.linkerd.io/federated',
  /** `"true"` on every mirror, endpoint mirror, their Endpoints, and federated Services. */
  mirroredService: 'mirror.linkerd.io/mirrored-service',
  /** `"true"` on the probe Service of a Link. */
  mirroredGateway: 'mirror.linkerd.io/mirrored-gateway',
  /** The target cluster an object was mirrored from. */
  clusterName: 'mirror.linkerd.io/cluster-name',
  /** On an endpoint mirror: the headless mirror it belongs to. */
  headlessMirrorSvcName: 'mirror.linkerd.io/headless-mirror-svc-name',
  /** On a flat-mode mirror: the target cluster whose endpoints Linkerd's destination controller reads. */
  remoteDiscovery: 'multicluster.linkerd.io/remote-discovery',
  /** On a flat-mode mirror: the Service of that cluster. */
  remoteService: 'multicluster.linkerd.io/remote-service',
  /** On the control plane's copy of the credentials. */
  credentialsClusterName: 'multicluster.linkerd.io/cluster-name',
  /** `multicluster` on what belongs to the extension. */
  extension: 'linkerd.io/extension',
  /** Kubernetes', on a namespace: the Pod Security Standard that its pods must meet. */
  podSecurity: 'pod-security.kubernetes.io/enforce',
  /** Kubernetes': the Service an EndpointSlice belongs to. */
  serviceName: 'kubernetes.io/service-name',
  /** Kubernetes': who maintains an EndpointSlice. */
  endpointSliceManagedBy: 'endpointslice.kubernetes.io/managed-by',
  /** Kubernetes': on Endpoints, `"true"` keeps the EndpointSliceMirroring controller away. */
  skipMirror: 'endpointslice.kubernetes.io/skip-mirror',
  /** On the gateway's pods: what its Service and its policy select by. */
  app: 'app',
  /** Kubernetes': on what `linkspan install` has made, `linkspan`. */
  managedBy: 'app.kubernetes.io/managed-by',
  /** On pods that `linkerd multicluster gateways` asks for metrics: `controller`. */
  component: 'component',
  /** Ours, on a federated Service that leads through gateways, and on its slices: `gateway` (rules I5, I8). */
  federation: 'linkspan.dev/federation',
  /** Ours, on a slice of such a Service: the member's target cluster; absent from those of the local member. */
  federationMember: 'linkspan.dev/federation-member',
  /** Ours, on a route: the ServiceFailover of its namespace that it is made for (rule J1). */
  serviceFailover: 'linkspan.dev/service-failover',
  /**
   * Ours, on what says who may come through the gateway: `open` on the policy for everyone, else the set of clients that the
   * object is for, `all` or `tcp` (rule M4).
   */
  gatewayAccess: 'linkspan.dev/gateway-access',
  /** linkerd-failover's, on a TrafficSplit: whoever changes its weights. */
  controlledBy: 'failover.linkerd.io/controlled-by',
  /** Ours, on a ServiceImport, its derived Service and its slices: the name of the ServiceImport (rule K3). */
  serviceImport: 'linkspan.dev/service-import',
  /** Ours, on a slice of a ServiceImport: the target cluster that it is of; absent from those of the local Service. */
  importedFrom: 'linkspan.dev/imported-from',
  /** Ours, on a Service that is derived for one pod of a headless ServiceImport, and on its slices: the pod's hostname. */
  importedPod: 'linkspan.dev/imported-pod',
  /** The MCS API's, on a slice: the ServiceImport that it belongs to (rule K3). */
  importedService: 'multicluster.kubernetes.io/service-name',
  /** The MCS API's, on a slice: the id of the cluster that its endpoints are of. */
  sourceCluster: 'multicluster.kubernetes.io/source-cluster',
} as const;

/** Annotations on mirrors, their Endpoints, credentials and the gateway. */
export const Annotation = {
  /** `<service>.<namespace>.svc.<target cluster domain>`; an endpoint mirror's has `<hostname>.` before it. */
  remoteSvcFqName: 'mirror.linkerd.io/remote-svc-fq-name',
  /** The resourceVersion of the target Service that a mirror was rendered from. */
  remoteResourceVersion: 'mirror.linkerd.io/remote-resource-version',
  /** The TLS identity of the target's gateway; without it proxies send plaintext. */
  remoteGatewayIdentity: 'mirror.linkerd.io/remote-gateway-identity',
  /** On a federated Service: `<service>@<cluster>[,…]`. */
  remoteDiscovery: 'multicluster.linkerd.io/remote-discovery',
  /** On a federated Service: the local member. */
  localDiscovery: 'multicluster.linkerd.io/local-discovery',
  /** On the control plane's copy of the credentials. */
  trustDomain: 'multicluster.linkerd.io/trust-domain',
  /** On the control plane's copy of the credentials. */
  clusterDomain: 'multicluster.linkerd.io/cluster-domain',
  /** On the gateway Service. */
  gatewayIdentity: 'mirror.linkerd.io/gateway-identity',
  /** On the gateway Service: seconds, or a Go duration. */
  probePeriod: 'mirror.linkerd.io/probe-period',
  /** On the gateway Service. */
  probePath: 'mirror.linkerd.io/probe-path',
  /** On the gateway Service: `"true"`. */
  multiclusterGateway: 'mirror.linkerd.io/multicluster-gateway',
  /** Protocol handling of a Service's ports; always copied (rule B3). */
  opaquePorts: 'config.linkerd.io/opaque-ports',
  /** On a pod: `enabled` has Linkerd's proxy put into it. */
  inject: 'linkerd.io/inject',
  /** On the gateway's pods: `"true"` lets the proxy forward what arrives for another Service. */
  enableGateway: 'config.linkerd.io/enable-gateway',
  /** On the gateway's pods: ports whose clients must have a mesh identity. */
  requireIdentityPorts: 'config.linkerd.io/proxy-require-identity-inbound-ports',
  /** On the gateway's pods: what the proxy allows where no policy says otherwise. */
  defaultInboundPolicy: 'config.linkerd.io/default-inbound-policy',
  /** The cluster autoscaler's, on pods: `"true"` lets it move one off a node, although its proxy has a volume there. */
  safeToEvict: 'cluster-autoscaler.kubernetes.io/safe-to-evict',
  /** Kubernetes', on a token Secret: the ServiceAccount whose token it gets. */
  serviceAccountName: 'kubernetes.io/service-account.name',
  /** Kubernetes', on a token Secret: the uid of the ServiceAccount that the token is of. */
  serviceAccountUid: 'kubernetes.io/service-account.uid',
  /** Ours, on a Secret that holds nothing: the ServiceAccount whose tokens are bound to it (rule P1). */
  serviceAccount: 'linkspan.dev/service-account',
  /**
   * Ours, on the Secret that a printed token is in or bound to: the uid of the source cluster that it is for, or `"true"` if
   * that is not known.
   */
  tokenGiven: 'linkspan.dev/token-given',
  /** The MCS API's, on a ServiceImport: the Service that was derived from it. */
  derivedService: 'multicluster.kubernetes.io/derived-service',
  /** Ours, on a ServiceImport: the exports that it is made of, in the order in which they count (rule K2). */
  exports: 'linkspan.dev/exports',
  /** Ours, on a ServiceImport, its derived Service and a federated Service: the operator's namespace (rules I9, K7). */
  operator: 'linkspan.dev/operator',
  /** Ours, on a ServiceAccount that another cluster reads with: the uid of Namespace kube-system of that cluster. */
  sourceClusterUid: 'linkspan.dev/source-cluster-uid',
  /** Ours, on the credentials of a target: the uid of Namespace kube-system of the target. */
  targetClusterUid: 'linkspan.dev/target-cluster-uid',
  /** Ours, on the credentials of a target: what `linkspan credentials rotate` has yet to do, as JSON. */
  rotation: 'linkspan.dev/rotation',
  /** Linkerd's, on what its command line or its chart has made. */
  createdBy: 'linkerd.io/created-by',
  /** Helm's, on what belongs to a release. */
  helmRelease: 'meta.helm.sh/release-name',
  /** Argo CD's: `Prune=false` has it leave an object that Git has no longer. */
  argoCdSyncOptions: 'argocd.argoproj.io/sync-options',
  /** Argo CD's: `IgnoreExtraneous` has its Application be Synced nevertheless. */
  argoCdCompareOptions: 'argocd.argoproj.io/compare-options',
  /** Ours, on the gateway's NetworkAuthentication: `any` if it was given no source clusters' CIDRs. */
  sourceNetworks: 'linkspan.dev/source-networks',
  /** linkerd-failover's, on a TrafficSplit: the backend that takes all requests while it is ready. */
  primaryService: 'failover.linkerd.io/primary-service',
  /** Ours, on a TrafficSplit or an HTTPRoute: its backends in the order in which to fall back on them. */
  failover: 'linkspan.dev/failover',
  /** Ours, on a Service or ServiceExport: the clients that may reach it through the gateway (rule M3). */
  clients: 'linkspan.dev/clients',
  /** Ours, on a Link: `"<count>"` lets a held mass deletion go ahead (rule E6). */
  confirmPrune: 'linkspan.dev/confirm-prune',
  /** Ours, on a Link: `"true"` has the operator leave it, and its mirrors, to another controller (rule H9). */
  suspended: 'linkspan.dev/suspended',
  /** Ours, on a Link: what of its gateway `linkspan link` was given by flags, and keeps, as in `gatewayAddress,gatewayPort`. */
  given: 'linkspan.dev/given',
  /** Ours, on a Deployment that `linkspan migrate` has stopped: its replicas before. */
  replicasBefore: 'linkspan.dev/replicas-before',
  /** Ours, on a Link's Lease: the target cluster whose mirrors were written under it (rule E5). */
  targetCluster: 'linkspan.dev/target-cluster',
  /** Ours, on a Link's Lease: the spec that the Link is served by, as JSON (rule E7). */
  servedSpec: 'linkspan.dev/served-spec',
  /** Ours, on a Link's Lease: digests of what the user has confirmed of a mass deletion, until it is gone (rule E6). */
  confirmed: 'linkspan.dev/confirmed',
  /**
   * Ours, on a Link's Lease: when `linkspan unlink` has removed the Link, whose mirrors are to go (rule E5). On its credentials, if
   * they have another name than the usual: of which cluster they are left.
   */
  unlinked: 'linkspan.dev/unlinked',
} as const;

/** Values of these labels. */
export const Value = {
  true: 'true',
  remoteDiscovery: 'remote-discovery',
  federatedMember: 'member',
  gatewayFederation: 'gateway',
  extension: 'multicluster',
  component: 'controller',
  managedBy: 'linkspan',
} as const;

/** The Link's coordinates in the Kubernetes API. */
export const LinkApi = {
  group: 'multicluster.linkerd.io',
  version: 'v1alpha3',
  apiVersion: 'multicluster.linkerd.io/v1alpha3',
  kind: 'Link',
  plural: 'links',
  /** The resource with its group: the name of its CustomResourceDefinition, and what `kubectl` takes. */
  crd: 'links.multicluster.linkerd.io',
} as const;

/** The ServiceFailover's coordinates in the Kubernetes API. */
export const FailoverApi = {
  group: OWN_DOMAIN,
  version: 'v1alpha1',
  apiVersion: 'linkspan.dev/v1alpha1',
  kind: 'ServiceFailover',
  plural: 'servicefailovers',
} as const;

/** The Multi-Cluster Services API (KEP-1645); every served version has one schema. */
export const McsApi = {
  group: 'multicluster.x-k8s.io',
  version: 'v1beta1',
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  /** Served beside it: CoreDNS reads ServiceImports in this version. */
  olderVersion: 'v1alpha1',
  serviceExport: { kind: 'ServiceExport', plural: 'serviceexports' },
  serviceImport: { kind: 'ServiceImport', plural: 'serviceimports' },
} as const;

/** The About API (KEP-2149): what a cluster is called in its set. */
export const AboutApi = {
  group: 'about.k8s.io',
  version: 'v1beta1',
  apiVersion: 'about.k8s.io/v1beta1',
  olderVersion: 'v1alpha1',
  clusterProperty: { kind: 'ClusterProperty', plural: 'clusterproperties' },
  /** Name of the ClusterProperty that holds the id of the cluster. */
  clusterId: 'cluster.clusterset.k8s.io',
  /** Name of the ClusterProperty that holds the id of the cluster's set. */
  clusterSet: 'clusterset.k8s.io',
} as const;

/** Linkerd's authorization policy; each kind at the version that Linkerd's own multicluster chart writes. */
export const PolicyApi = {
  group: 'policy.linkerd.io',
  server: 'policy.linkerd.io/v1beta3',
  authorization: 'policy.linkerd.io/v1alpha1',
  route: 'policy.linkerd.io/v1beta3',
  /** Name of the gateway's MeshTLSAuthentication. */
  anyMeshed: 'any-meshed',
  /** Name of the gateway's NetworkAuthentication. */
  sourceCluster: 'source-cluster',
  /** Name of the copy of its networks that the policy of exports requires. */
  keptNetworks: 'linkspan-source-networks',
  /** Name of the container port that Linkerd's proxy takes traffic on. */
  proxyPortName: 'linkerd-proxy',
  /** Name of the container port of its metrics and its health, and of the policy for it. */
  adminPortName: 'linkerd-admin',
} as const;

/** Where requests to one Service are divided among several: SMI's TrafficSplit, the routes of the Gateway API. */
export const RouteApi = {
  trafficSplit: 'split.smi-spec.io/v1alpha2',
  group: 'gateway.networking.k8s.io',
  HTTPRoute: 'gateway.networking.k8s.io/v1',
  GRPCRoute: 'gateway.networking.k8s.io/v1',
  TCPRoute: 'gateway.networking.k8s.io/v1alpha2',
  /** As Linkerd's parentRefs spell the core group. */
  coreGroup: 'core',
} as const;

/** Defaults of the Link and of where things live. */
export const Default = {
  multiclusterNamespace: 'linkerd-multicluster',
  controlPlaneNamespace: 'linkerd',
  clusterDomain: 'cluster.local',
  gatewayName: 'linkerd-gateway',
  gatewayPort: 4143,
  probePort: 4191,
  probePath: '/ready',
  probePortName: 'mc-probe',
  gatewayPortName: 'mc-gateway',
  /** Ports that Linkerd takes for opaque where a Service does not name its own: `proxy.opaquePorts` of its chart. */
  opaquePorts: '25,587,3306,4444,5432,6379,9300,11211',
} as const;

/** Type of the Secret that holds a target's kubeconfig, and the data key of the kubeconfig. */
export const CredentialsSecret = {
  type: 'mirror.linkerd.io/remote-kubeconfig',
  key: 'kubeconfig',
} as const;

/** The ConfigMap of each namespace in which Kubernetes publishes the CA certificates of the API server, and its key. */
export const RootCa = { name: 'kube-root-ca.crt', key: 'ca.crt' } as const;

/** Kubernetes' type of the Secret that it fills with the token of a ServiceAccount. */
export const TOKEN_SECRET_TYPE = 'kubernetes.io/service-account-token';

/** The field manager of every write of ours. */
export const FIELD_MANAGER = 'linkspan';

/** Who the commands are in managedFields and audit logs: not the operator, whose writes are its own. */
export const COMMAND_LINE = 'linkspan-cli';

/** Field managers of all that we write. */
export const OUR_MANAGERS: readonly string[] = [FIELD_MANAGER, COMMAND_LINE];

/** User agent of our requests, as it is in the audit logs of the source cluster and of target clusters. */
export const UserAgent = { source: 'linkspan-operator', target: 'linkspan' } as const;

/** Who reports on a mirror in the status of a Link. */
export const CONTROLLER_NAME = 'linkspan.dev/operator';

/** The Lease that elects the leading operator. */
export const OPERATOR_LEASE = 'linkspan-operator';

/** Name of the operator's Deployment, ServiceAccount, roles and Service. */
export const OPERATOR_NAME = 'linkspan-operator';

/** The operator's admin port: `linkerd multicluster gateways` looks for a port whose name ends in `-admin`. */
export const OperatorPort = { name: 'linkspan-admin', number: 9999 } as const;

/** The operator's container: `linkerd multicluster gateways` asks none of another name. */
export const OPERATOR_CONTAINER = 'controller';

/** Who maintains EndpointSlices that the operator writes itself. */
export const ENDPOINT_SLICE_MANAGER = 'linkspan.dev';

/** Value of the same label on the slices that Kubernetes makes of the pods which the selector of a Service selects. */
export const SELECTED_SLICE_MANAGER = 'endpointslice-controller.k8s.io';

/** Values of the same label on the slices that Kubernetes' own controllers maintain, of pods and of Endpoints. */
export const KUBERNETES_SLICE_MANAGERS: readonly string[] = [
  SELECTED_SLICE_MANAGER,
  'endpointslicemirroring-controller.k8s.io',
];

/** Namespaces of Kubernetes' own, never created or written to (rule A3). */
export const PROTECTED_NAMESPACES: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease'];

/** Name of the mirror of `service` of `cluster`, and of its Endpoints. */
export const mirrorName = (service: string, cluster: string): string => `${service}-${cluster}`;

const FEDERATED_SUFFIX = '-federated';

/** Name of the federated Service that the Services of that name join. */
export const federatedName = (service: string): string => service + FEDERATED_SUFFIX;

/** Name of the Services that join a federated Service of that name; undefined if it cannot be one. */
export const memberName = (federated: string): string | undefined =>
  federated.endsWith(FEDERATED_SUFFIX) && federated.length > FEDERATED_SUFFIX.length
    ? federated.slice(0, -FEDERATED_SUFFIX.length)
    : undefined;

/** Value of {@link Annotation.remoteDiscovery} for one member. */
export const federatedEntry = (service: string, cluster: string): string => `${service}@${cluster}`;

const PROBE_PREFIX = 'probe-';

/** Name of the probe Service of a Link, and of its Endpoints. */
export const probeName = (link: string): string => PROBE_PREFIX + link;

/** Reports whether a name can be that of a probe Service. */
export const isProbeName = (name: string): boolean => name.startsWith(PROBE_PREFIX);

const WRITE_LEASE_PREFIX = 'service-mirror-write-';

/** Annotations that have Argo CD leave an object that Git has no longer, and be Synced without it. */
export const ARGO_CD_KEEPS: Readonly<Record<string, string>> = {
  [Annotation.argoCdSyncOptions]: 'Prune=false',
  [Annotation.argoCdCompareOptions]: 'IgnoreExtraneous',
};

/** Name of the Lease that whoever writes for a Link holds; Linkerd's controller takes the same one. */
export const writeLeaseName = (link: string): string => WRITE_LEASE_PREFIX + link;

/** Name of the Lease that whoever writes local memberships of federated Services holds; Linkerd's local mirror takes it. */
export const LOCAL_WRITE_LEASE = 'local-service-mirror-write';

/** Name of the Deployment of Linkerd's local mirror, which Linkerd's chart always installs. */
export const LOCAL_MIRROR = 'linkerd-local-service-mirror';

/** Name of the Link that a Lease of this name is for; undefined for other Leases. */
export const linkOfWriteLease = (lease: string): string | undefined =>
  lease.startsWith(WRITE_LEASE_PREFIX) ? lease.slice(WRITE_LEASE_PREFIX.length) : undefined;

/** Name of the Secret with a target's credentials, in both its copies. */
export const credentialsName = (cluster: string): string => `cluster-credentials-${cluster}`;

/** Value of {@link Annotation.remoteSvcFqName}. */
export const remoteFqName = (service: string, namespace: string, clusterDomain: string): string =>
  `${service}.${namespace}.svc.${clusterDomain}`;

const REMOTE_ACCESS = 'linkerd-service-mirror-remote-access-';

/** Name of the ServiceAccount with which a source cluster reads this one, and of its roles. */
export const remoteAccessName = (sourceCluster: string): string => `${REMOTE_ACCESS}${sourceCluster}`;

/**
 * Name of the Secret, holding nothing, that the tokens of a ServiceAccount are bound to: `linkspan-peer-<source cluster>`
 * for an account of {@link remoteAccessName}.
 */
export const peerSecretName = (serviceAccount: string): string =>
  `linkspan-peer-${serviceAccount.startsWith(REMOTE_ACCESS) ? serviceAccount.slice(REMOTE_ACCESS.length) : serviceAccount}`;

/** The account that Linkerd's chart and command line make by default, for any number of source clusters. */
export const SHARED_ACCOUNT = remoteAccessName('default');

/** Name of the Secret with the token of a ServiceAccount that does not end. */
export const tokenSecretName = (serviceAccount: string): string => `${serviceAccount}-token`;

/**
 * TLS identity of the gateway of a target, as Linkerd derives it from the ServiceAccount `linkerd-gateway`. A Link
 * without one makes proxies send plaintext, which no gateway accepts.
 * @param linkerdNamespace namespace of the target's control plane
 * @param trustDomain identity trust domain of the target
 * @param namespace namespace of the gateway
 */
export const gatewayIdentity = (
  linkerdNamespace: string,
  trustDomain: string,
  namespace: string = Default.multiclusterNamespace,
): string => meshIdentity(Default.gatewayName, namespace, linkerdNamespace, trustDomain);

/** TLS identity of the pods of a ServiceAccount, as Linkerd derives it. */
export const meshIdentity = (
  serviceAccount: string,
  namespace: string,
  linkerdNamespace: string,
  trustDomain: string,
): string => `${serviceAccount}.${namespace}.serviceaccount.identity.${linkerdNamespace}.${trustDomain}`;
