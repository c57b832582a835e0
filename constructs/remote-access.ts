/**
 * What one source cluster may read here: an account of its own, so that its access can be revoked without touching any
 * other's. In gateway mode the operator lists and watches Services and EndpointSlices, and no more; in flat mode
 * Linkerd's destination controller reads through the same account what it needs to find pods.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { Annotation, Default, Label, remoteAccessName, tokenSecretName, Value } from '../crds/wire.ts';
import { Grant, type PolicyRule } from './grant.ts';
import { refuse } from './invalid-props.ts';
import { dnsLabel, dnsSubdomain } from './prop-rules.ts';

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
   * `secret`: a token that lasts until its Secret is deleted; `none`: for short-lived ones, from the TokenRequest API.
   * @default secret
   */
  readonly token?: 'secret' | 'none' | undefined;
}

const READ = ['list', 'watch'];
const EXPORTS: readonly PolicyRule[] = [
  { group: '', resources: ['services'], verbs: READ },
  { group: 'discovery.k8s.io', resources: ['endpointslices'], verbs: READ },
];
/** Endpoints are not among them: with EndpointSlices, which is Linkerd's default, it does not ask for them. */
const PODS: readonly PolicyRule[] = [
  { group: '', resources: ['pods'], verbs: READ },
  { group: 'apps', resources: ['replicasets'], verbs: READ },
  { group: 'batch', resources: ['jobs'], verbs: READ },
  { group: 'policy.linkerd.io', resources: ['servers'], verbs: READ },
];

/**
 * ServiceAccount, ClusterRole and binding, and a token Secret unless told otherwise.
 * @throws InvalidPropsError naming every prop that the API server would refuse
 */
export class RemoteAccess extends Construct {
  /** Name of the ServiceAccount, the ClusterRole and its binding. */
  readonly name: string;
  /** The ServiceAccount. */
  readonly serviceAccount: ApiObject;
  /** The Secret that Kubernetes puts the token into; undefined if none was asked for. */
  readonly tokenSecret: ApiObject | undefined;
  /** The ClusterRole. */
  readonly role: ApiObject;
  /** The ClusterRoleBinding. */
  readonly binding: ApiObject;

  constructor(scope: Construct, id: string, props: RemoteAccessProps) {
    super(scope, id);
    const { sourceCluster, flat = false, token = 'secret' } = props;
    this.name = props.name ?? remoteAccessName(sourceCluster);
    const namespace = props.namespace ?? Chart.of(this).namespace ?? Default.multiclusterNamespace;
    refuse(`RemoteAccess ${namespace}/${this.name}`, [
      dnsLabel('sourceCluster', sourceCluster),
      dnsSubdomain('name', this.name),
      dnsLabel('namespace', namespace),
    ]);

    const labels = { [Label.extension]: Value.extension };
    this.serviceAccount = new ApiObject(this, 'Resource', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: this.name, namespace, labels },
      automountServiceAccountToken: false,
    });
    this.tokenSecret =
      token === 'secret'
        ? new ApiObject(this, 'Token', {
            apiVersion: 'v1',
            kind: 'Secret',
            type: 'kubernetes.io/service-account-token',
            metadata: {
              name: tokenSecretName(this.name),
              namespace,
              labels,
              annotations: { [Annotation.serviceAccountName]: this.name },
            },
          })
        : undefined;
    const rules = flat ? [...EXPORTS, ...PODS] : EXPORTS;
    const grant = new Grant(this, 'Exports', { to: { name: this.name, namespace }, rules, labels });
    this.role = grant.role;
    this.binding = grant.binding;
  }
}
