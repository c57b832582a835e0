/**
 * Policies for the clients of a gateway, and for the readers of its proxy's metrics. These metrics name every exported
 * Service and its clients, and their port is open on the load balancer because other clusters probe the gateway there.
 *
 * Meshed clients of any identity may use the gateway from the networks of the source clusters. Without `sourceNetworks`,
 * clients may connect from every address, and an annotation on the NetworkAuthentication records it: only the trust
 * anchor then protects a gateway that the whole internet can reach.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { Annotation, ARGO_CD_KEEPS, Default, Label, PolicyApi, Value } from '../../crds/wire.ts';
import { ANY_NETWORK, cidr } from '../common/cidr.ts';
import { dnsLabel } from '../common/prop-rules.ts';
import { acceptProps } from '../common/props.ts';
import { scraperErrors, ScrapePolicy, type ServiceAccountRef, VIZ_PROMETHEUS } from '../common/scrape-policy.ts';
import { GATEWAY_LABELS, GATEWAY_PODS } from './gateway-service.ts';
import { GATEWAY_POLICY_PROPS } from './schema.gen.ts';

/** Properties of {@link GatewayPolicy}. */
export interface GatewayPolicyProps {
  /**
   * Namespace of the gateway.
   * @default - the chart's, else `linkerd-multicluster`
   */
  readonly namespace?: string | undefined;
  /**
   * Who may come through the gateway: every meshed client to every Service of the cluster (`open`), or whom the operator of
   * the cluster lets in, by what is exported (`exported`) and to whom (`clients`). With these, no policy of the whole Server
   * is rendered: until an operator with the same setting runs, nobody is let in.
   * @default open
   */
  readonly gatewayAccess?: 'open' | 'exported' | 'clients' | undefined;
  /**
   * Networks in CIDR notation that clients connect from, as the gateway sees them. Behind a load balancer that does not
   * keep addresses, these are the networks of the nodes.
   * @default - all, recorded in an annotation
   */
  readonly sourceNetworks?: readonly string[] | undefined;
  /**
   * ServiceAccounts of this cluster that may read the metrics of the proxies of the multicluster extension.
   * @default - `prometheus` in `linkerd-viz`
   */
  readonly scrapers?: readonly ServiceAccountRef[] | undefined;
}

/** Label of all pods of the multicluster extension. */
const EXTENSION = { [Label.extension]: Value.extension } as const;

/**
 * Server and AuthorizationPolicy `linkerd-gateway`, MeshTLSAuthentication `any-meshed`, NetworkAuthentication
 * `source-cluster`; Server and AuthorizationPolicy `linkerd-admin`.
 * Synthesis fails for each invalid network and ServiceAccount.
 */
export class GatewayPolicy extends Construct {
  /** The Server of the gateway's port. */
  readonly server: ApiObject;
  /** The policy that requires both authentications for the Server; undefined unless the gateway is open. */
  readonly authorizationPolicy: ApiObject | undefined;
  /** Authenticates any client of the mesh. */
  readonly meshTLSAuthentication: ApiObject;
  /** Authenticates clients from the networks of the source clusters. */
  readonly networkAuthentication: ApiObject;
  /** The policy for readers of the metrics of the proxies. */
  readonly scrapePolicy: ScrapePolicy;

  constructor(scope: Construct, id: string, given: GatewayPolicyProps = {}) {
    super(scope, id);
    const namespaceOf = (props: GatewayPolicyProps): string =>
      props.namespace ?? Chart.of(this).namespace ?? Default.multiclusterNamespace;
    const props = acceptProps(this, GATEWAY_POLICY_PROPS, given, {}, (given) => ({
      construct: `GatewayPolicy ${namespaceOf(given)}/${Default.gatewayName}`,
      found: gatewayPolicyErrors(given, namespaceOf(given)),
    }));
    const { sourceNetworks, scrapers = [VIZ_PROMETHEUS], gatewayAccess = 'open' } = props;
    const namespace = namespaceOf(props);

    const metadata = { name: Default.gatewayName, namespace, labels: GATEWAY_LABELS };
    this.server = new ApiObject(this, 'Resource', {
      apiVersion: PolicyApi.server,
      kind: 'Server',
      metadata,
      spec: { podSelector: { matchLabels: GATEWAY_PODS }, port: PolicyApi.proxyPortName },
    });
    this.authorizationPolicy = gatewayAccess === 'open' ? this.#opening(metadata) : undefined;
    this.meshTLSAuthentication = new ApiObject(this, 'MeshTLSAuthentication', {
      apiVersion: PolicyApi.authorization,
      kind: 'MeshTLSAuthentication',
      metadata: { ...metadata, name: PolicyApi.anyMeshed },
      spec: { identities: ['*'] },
    });
    this.networkAuthentication = new ApiObject(this, 'NetworkAuthentication', {
      apiVersion: PolicyApi.authorization,
      kind: 'NetworkAuthentication',
      metadata: {
        ...metadata,
        name: PolicyApi.sourceCluster,
        ...(sourceNetworks === undefined && { annotations: { [Annotation.sourceNetworks]: 'any' } }),
      },
      spec: { networks: (sourceNetworks ?? ANY_NETWORK).map((network) => ({ cidr: network })) },
    });
    this.scrapePolicy = new ScrapePolicy(this, 'Admin', {
      metadata: { name: PolicyApi.adminPortName, namespace, labels: EXTENSION },
      pods: EXTENSION,
      port: PolicyApi.adminPortName,
      scrapers,
    });
  }

  /** Lets everyone in. It stays when it is not rendered any more: the operator deletes it once what is exported is admitted. */
  #opening(metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: typeof GATEWAY_LABELS;
  }): ApiObject {
    const { namespace } = metadata;
    const authentication = (kind: string, name: string) => ({ group: PolicyApi.group, kind, name, namespace });
    return new ApiObject(this, 'AuthorizationPolicy', {
      apiVersion: PolicyApi.authorization,
      kind: 'AuthorizationPolicy',
      metadata: {
        ...metadata,
        labels: { ...metadata.labels, [Label.gatewayAccess]: 'open' },
        annotations: ARGO_CD_KEEPS,
      },
      spec: {
        targetRef: { group: PolicyApi.group, kind: 'Server', name: Default.gatewayName },
        requiredAuthenticationRefs: [
          authentication('MeshTLSAuthentication', PolicyApi.anyMeshed),
          authentication('NetworkAuthentication', PolicyApi.sourceCluster),
        ],
      },
    });
  }
}

const gatewayPolicyErrors = (
  { sourceNetworks, scrapers = [] }: GatewayPolicyProps,
  namespace: string,
): readonly (FieldError | undefined)[] => [
  dnsLabel('namespace', namespace),
  sourceNetworks?.length === 0
    ? fieldError('sourceNetworks', sourceNetworks, 'must not be empty', 'name networks, or leave it out to allow all')
    : undefined,
  ...(sourceNetworks ?? []).map((network, index) => cidr(`sourceNetworks[${index}]`, network)),
  ...scraperErrors('scrapers', scrapers),
];
