/**
 * Access of one source cluster to this one: an account of its own, which can be revoked alone. In gateway mode, the
 * operator only lists and watches Services and EndpointSlices. In flat mode, Linkerd's destination controller uses the
 * same account to find pods. A few more rights let Linkerd's own service mirror controller use the account, and
 * `linkerd multicluster check` pass.
 */
import { ApiObject, type ApiObjectMetadata, Chart, JsonPatch } from 'cdk8s';
import { type IServiceAccount, Secret, ServiceAccount, ServiceAccountTokenSecret } from 'cdk8s-plus-27';
import { Construct } from 'constructs';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import {
  AboutApi,
  Annotation,
  Default,
  Label,
  McsApi,
  peerSecretName,
  remoteAccessName,
  RootCa,
  tokenSecretName,
  Value,
} from '../../crds/wire.ts';
import { Grant, type PolicyRule } from '../common/grant.ts';
import { dnsLabel, dnsSubdomain, nameList } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import { REMOTE_ACCESS_PROPS } from './schema.gen.ts';

/** Properties of {@link RemoteAccess}. */
export interface RemoteAccessProps {
  /** Name of the source cluster. */
  readonly sourceCluster: string;
  /**
   * Name of the ServiceAccount and its roles.
   * @default linkerd-service-mirror-remote-access-<source cluster>
   */
  readonly name?: string | undefined;
  /**
   * Namespace of the ServiceAccount.
   * @default - the chart's, else `linkerd-multicluster`
   */
  readonly namespace?: string | undefined;
  /**
   * Whether to grant the rights that mirrors and federated Services on a flat network need. Linkerd's destination controller fails without them.
   * @default false
   */
  readonly flat?: boolean | undefined;
  /**
   * The only namespaces that the source cluster may read, by a Role in each. They must exist, and Links to this cluster
   * must name them as `targetNamespaces`. They exclude `flat`: Linkerd's destination controller reads whole clusters.
   * @default - all, by a ClusterRole
   */
  readonly exportNamespaces?: readonly string[] | undefined;
  /**
   * Whether to grant the rights that Linkerd's own controller and `linkerd multicluster check` need: to read Endpoints, a
   * single Service, and the ConfigMap `linkerd-config`.
   * @default - true, or false with `exportNamespaces`, with which neither can work
   */
  readonly linkerdController?: boolean | undefined;
  /**
   * Whether to render a Secret that Kubernetes fills with a token that does not end. Linkerd's destination controller needs
   * one on a flat network, since it reads its credentials once; `linkspan credentials mint --flat` makes it, too. The operator
   * does with tokens of the TokenRequest API: it renews them before they end.
   * @default false
   */
  readonly longLivedToken?: boolean | undefined;
}

const READ = ['list', 'watch'];
/** The ConfigMap that Linkerd keeps its settings and trust anchors in. */
const LINKERD_CONFIG = 'linkerd-config';

/** Rights of the operator in a target. */
const exportRules: readonly PolicyRule[] = [
  { group: '', resources: ['services'], verbs: READ, why: 'the operator finds what is exported, by label' },
  {
    group: 'discovery.k8s.io',
    resources: ['endpointslices'],
    verbs: READ,
    why: 'the operator sees whether anything behind an export is ready, and the host names of StatefulSets',
  },
  {
    group: McsApi.group,
    resources: [McsApi.serviceExport.plural],
    verbs: READ,
    why: 'the operator finds what is exported by the MCS API',
  },
];

/** The right to read what the cluster is called in its set, which only a ClusterRole can grant. */
const clusterIdRules: readonly PolicyRule[] = [
  {
    group: AboutApi.group,
    resources: [AboutApi.clusterProperty.plural],
    resourceNames: [AboutApi.clusterId],
    verbs: READ,
    why: 'the operator reads what the cluster is called in its set; the name that the Link gives it without this right',
  },
];

/** Linkerd's controller does not start before it has listed Endpoints. `check` asks for `get` on Services as well. */
const controllerRules: readonly PolicyRule[] = [
  {
    group: '',
    resources: ['services'],
    verbs: ['get'],
    why: '`linkerd multicluster check` asks whether it is granted',
  },
  {
    group: '',
    resources: ['endpoints'],
    verbs: READ,
    why: "Linkerd's service mirror controller lists them before it starts",
  },
  {
    group: '',
    resources: ['configmaps'],
    resourceNames: [LINKERD_CONFIG],
    verbs: ['get'],
    why: '`linkerd multicluster check` compares the trust anchors of both clusters',
  },
];

/** Rights by which the operator renews the token that it has, in the namespace of the account. */
const renewalRules = (name: string): readonly PolicyRule[] => [
  {
    group: '',
    resources: ['serviceaccounts/token'],
    resourceNames: [name],
    verbs: ['create'],
    why: 'the operator renews its token before it ends',
  },
  {
    group: '',
    resources: ['configmaps'],
    resourceNames: [RootCa.name],
    verbs: ['get'],
    why: 'the operator knows the next CA of the API server before it is used; it keeps the CA that it has without this right',
  },
];

/** Endpoints are not among them: with EndpointSlices, which is Linkerd's default, it does not ask for them. */
const destinationRules: readonly PolicyRule[] = [
  { group: '', resources: ['pods'], verbs: READ, why: 'Linkerd finds the pods behind an address' },
  { group: 'apps', resources: ['replicasets'], verbs: READ, why: 'Linkerd names the Deployment that a pod is of' },
  { group: 'batch', resources: ['jobs'], verbs: READ, why: 'Linkerd names the CronJob that a pod is of' },
  { group: 'policy.linkerd.io', resources: ['servers'], verbs: READ, why: 'Linkerd knows the protocol of a port' },
];

/**
 * ServiceAccount, ClusterRole and binding, or a Role and binding in each namespace, the right to renew a token, and a Secret
 * that holds nothing: the tokens of the account are bound to it, and void once it is deleted.
 * Synthesis fails for each prop that the API server would refuse.
 */
export class RemoteAccess extends Construct {
  /** Name of the ServiceAccount, its roles and their bindings. */
  readonly name: string;
  /** The ServiceAccount. */
  readonly serviceAccount: ServiceAccount;
  /** The Secret that the tokens of the account are bound to. */
  readonly peerSecret: Secret;
  /** The Secret with the token that does not end; undefined if there is none. */
  readonly tokenSecret: Secret | undefined;
  /** The rights: in the whole cluster, or in each of the namespaces; and in its own, that to renew its token. */
  readonly grants: readonly Grant[];
  constructor(scope: Construct, id: string, given: RemoteAccessProps) {
    super(scope, id);
    const namespaceOf = (props: RemoteAccessProps): string =>
      props.namespace ?? Chart.of(this).namespace ?? Default.multiclusterNamespace;
    const props = acceptProps(this, REMOTE_ACCESS_PROPS, given, STAND_IN, (given) => ({
      construct: `RemoteAccess ${namespaceOf(given)}/${given.name ?? remoteAccessName(given.sourceCluster)}`,
      found: remoteAccessErrors(given, namespaceOf(given)),
    }));
    const { sourceCluster, flat = false, exportNamespaces } = props;
    const { longLivedToken = false, linkerdController = exportNamespaces === undefined } = props;
    this.name = props.name ?? remoteAccessName(sourceCluster);
    const namespace = namespaceOf(props);

    const labels = { [Label.extension]: Value.extension };
    const metadata = { namespace, labels };
    this.serviceAccount = new ServiceAccount(this, 'Resource', { metadata: { ...metadata, name: this.name } });
    this.peerSecret = peerSecret(this, {
      ...metadata,
      name: peerSecretName(this.name),
      annotations: { [Annotation.serviceAccount]: this.name },
    });
    this.tokenSecret = longLivedToken
      ? tokenSecret(this, this.serviceAccount, { ...metadata, name: tokenSecretName(this.name) })
      : undefined;
    const rules = [
      ...exportRules,
      ...(exportNamespaces === undefined ? clusterIdRules : []),
      ...(linkerdController ? controllerRules : []),
      ...(flat ? destinationRules : []),
    ];
    const renewal = renewalRules(this.name);
    // A namespace has one Role of the name.
    const rulesIn = (within: string): readonly PolicyRule[] => [...rules, ...(within === namespace ? renewal : [])];
    const grant = (id: string, granted: readonly PolicyRule[], within?: string) =>
      new Grant(this, id, { to: this.serviceAccount, rules: granted, namespace: within, labels });
    this.grants = [
      ...(exportNamespaces?.map((each) => grant(`Exports-${each}`, rulesIn(each), each)) ?? [grant('Exports', rules)]),
      ...(exportNamespaces?.includes(namespace) === true ? [] : [grant('Renewal', renewal, namespace)]),
    ];
  }
}

/** A Secret that Kubernetes fills. */
const tokenSecret = (scope: Construct, serviceAccount: ServiceAccount, metadata: ApiObjectMetadata): Secret =>
  withoutData(
    new ServiceAccountTokenSecret(scope, 'Token', { metadata, serviceAccount: serviceAccount as IServiceAccount }),
  );

const peerSecret = (scope: Construct, metadata: ApiObjectMetadata): Secret =>
  withoutData(new Secret(scope, 'Peer', { metadata, type: 'Opaque' }));

/** A Secret without the empty data that cdk8s-plus renders. */
const withoutData = <T extends Secret>(secret: T): T => {
  ApiObject.of(secret).addJsonPatch(JsonPatch.remove('/stringData'), JsonPatch.remove('/immutable'));
  return secret;
};

/** Names of Secrets are made of that of an account. */
const LONGEST_NAME = 253 - peerSecretName('').length;

const secretName = (path: string, value: string): FieldError | undefined =>
  value.length > LONGEST_NAME
    ? fieldError(path, value, `must be no longer than ${LONGEST_NAME} characters: a Secret is called after it`)
    : undefined;

const STAND_IN: RemoteAccessProps = { sourceCluster: 'invalid' };

const remoteAccessErrors = (
  { sourceCluster, name, exportNamespaces, flat, linkerdController }: RemoteAccessProps,
  namespace: string,
): readonly (FieldError | undefined)[] => [
  dnsLabel('sourceCluster', sourceCluster),
  name === undefined ? undefined : (dnsSubdomain('name', name) ?? secretName('name', name)),
  dnsLabel('namespace', namespace),
  ...nameList('exportNamespaces', exportNamespaces, dnsLabel, 'namespace'),
  exportNamespaces !== undefined && flat === true
    ? fieldError(
        'exportNamespaces',
        exportNamespaces,
        "must not be set together with flat: Linkerd's destination controller reads whole clusters",
        'remove it',
      )
    : undefined,
  exportNamespaces !== undefined && linkerdController === true
    ? fieldError(
        'linkerdController',
        true,
        'must not be set together with exportNamespaces: it reads whole clusters',
        'remove one of them',
      )
    : undefined,
];
