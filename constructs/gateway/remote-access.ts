/**
 * What one source cluster may read here: an account of its own, so that its access can be revoked without touching any
 * other's. In gateway mode the operator lists and watches Services and EndpointSlices, and no more; in flat mode
 * Linkerd's destination controller reads through the same account what it needs to find pods. A little more lets
 * Linkerd's own service mirror controller work with the account too, and `linkerd multicluster check` pass.
 */
import { ApiObject, type ApiObjectMetadata, Chart, JsonPatch } from 'cdk8s';
import { type IServiceAccount, type Secret, ServiceAccount, ServiceAccountTokenSecret } from 'cdk8s-plus-27';
import { Construct } from 'constructs';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { Default, Label, remoteAccessName, tokenSecretName, Value } from '../../crds/wire.ts';
import { Grant, type PolicyRule } from '../common/grant.ts';
import { dnsLabel, dnsSubdomain, nameList } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import { REMOTE_ACCESS_PROPS } from './schema.ts';

/** Properties of {@link RemoteAccess}. */
export interface RemoteAccessProps {
  /** Name of the source cluster that reads. */
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
   * Also what Linkerd's destination controller reads for flat and federated mode; without these rights it dies.
   * @default false
   */
  readonly flat?: boolean | undefined;
  /**
   * The only namespaces that may be read, by a Role in each; they must exist. Links to here then name them as
   * `targetNamespaces`. Not together with `flat`: Linkerd's destination controller reads whole clusters.
   * @default - the whole cluster, by a ClusterRole
   */
  readonly exportNamespaces?: readonly string[] | undefined;
  /**
   * Also what Linkerd's own service mirror controller reads, so that a Link can go back to it, and what
   * `linkerd multicluster check` looks for: Endpoints, a single Service, and the ConfigMap `linkerd-config`.
   * @default - true; false if limited to `exportNamespaces`, where neither can work
   */
  readonly linkerdController?: boolean | undefined;
  /**
   * `secret`: a token that lasts until its Secret is deleted; `none`: for short-lived ones, from the TokenRequest API.
   * @default secret
   */
  readonly token?: 'secret' | 'none' | undefined;
}

const READ = ['list', 'watch'];
/** The ConfigMap that Linkerd keeps its settings and trust anchors in. */
const LINKERD_CONFIG = 'linkerd-config';

/** What the operator reads in a target. */
const exportRules: readonly PolicyRule[] = [
  { group: '', resources: ['services'], verbs: READ, why: 'the operator finds what is exported, by label' },
  {
    group: 'discovery.k8s.io',
    resources: ['endpointslices'],
    verbs: READ,
    why: 'the operator sees whether anything behind an export is ready, and the host names of StatefulSets',
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

/** Endpoints are not among them: with EndpointSlices, which is Linkerd's default, it does not ask for them. */
const destinationRules: readonly PolicyRule[] = [
  { group: '', resources: ['pods'], verbs: READ, why: 'Linkerd finds the pods behind an address' },
  { group: 'apps', resources: ['replicasets'], verbs: READ, why: 'Linkerd names the Deployment that a pod is of' },
  { group: 'batch', resources: ['jobs'], verbs: READ, why: 'Linkerd names the CronJob that a pod is of' },
  { group: 'policy.linkerd.io', resources: ['servers'], verbs: READ, why: 'Linkerd knows the protocol of a port' },
];

/**
 * ServiceAccount, ClusterRole and binding, or a Role and binding in each namespace, and by default a token Secret.
 * Synthesis fails, naming every prop that the API server would refuse
 */
export class RemoteAccess extends Construct {
  /** Name of the ServiceAccount, its roles and their bindings. */
  readonly name: string;
  /** The ServiceAccount. */
  readonly serviceAccount: ServiceAccount;
  /** The Secret that Kubernetes puts the token into; undefined if none was asked for. */
  readonly tokenSecret: Secret | undefined;
  /** The rights: in the whole cluster, or in each of the namespaces. */
  readonly grants: readonly Grant[];

  constructor(scope: Construct, id: string, given: RemoteAccessProps) {
    super(scope, id);
    const namespaceOf = (props: RemoteAccessProps): string =>
      props.namespace ?? Chart.of(this).namespace ?? Default.multiclusterNamespace;
    const props = acceptProps(this, REMOTE_ACCESS_PROPS, given, STAND_IN, (given) => ({
      construct: `RemoteAccess ${namespaceOf(given)}/${given.name ?? remoteAccessName(given.sourceCluster)}`,
      found: remoteAccessErrors(given, namespaceOf(given)),
    }));
    const { sourceCluster, flat = false, token = 'secret', exportNamespaces } = props;
    const { linkerdController = exportNamespaces === undefined } = props;
    this.name = props.name ?? remoteAccessName(sourceCluster);
    const namespace = namespaceOf(props);

    const labels = { [Label.extension]: Value.extension };
    const metadata = { namespace, labels };
    this.serviceAccount = new ServiceAccount(this, 'Resource', { metadata: { ...metadata, name: this.name } });
    this.tokenSecret =
      token === 'secret'
        ? tokenSecret(this, this.serviceAccount, { ...metadata, name: tokenSecretName(this.name) })
        : undefined;
    const rules = [...exportRules, ...(linkerdController ? controllerRules : []), ...(flat ? destinationRules : [])];
    const grant = (id: string, within?: string) =>
      new Grant(this, id, { to: this.serviceAccount, rules, namespace: within, labels });
    this.grants = exportNamespaces?.map((each) => grant(`Exports-${each}`, each)) ?? [grant('Exports')];
  }
}

/** Kubernetes fills it: what cdk8s-plus renders of its data is empty. */
const tokenSecret = (scope: Construct, serviceAccount: ServiceAccount, metadata: ApiObjectMetadata): Secret => {
  const secret = new ServiceAccountTokenSecret(scope, 'Token', {
    metadata,
    serviceAccount: serviceAccount as IServiceAccount,
  });
  ApiObject.of(secret).addJsonPatch(JsonPatch.remove('/stringData'), JsonPatch.remove('/immutable'));
  return secret;
};

const STAND_IN: RemoteAccessProps = { sourceCluster: 'invalid' };

const remoteAccessErrors = (
  { sourceCluster, name, exportNamespaces, flat, linkerdController }: RemoteAccessProps,
  namespace: string,
): readonly (FieldError | undefined)[] => [
  dnsLabel('sourceCluster', sourceCluster),
  name === undefined ? undefined : dnsSubdomain('name', name),
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
