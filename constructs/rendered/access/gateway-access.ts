/**
 * Who may come through a gateway (rule M4), as Linkerd's policy: identities, routes for what they may ask for, and what
 * authorizes the one for the other. All of it is in the namespace of the gateway, since a Server has no other routes.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { Default, Label, PolicyApi, Value } from '../../../crds/wire.ts';

/** What all parts of the policy have. */
export interface AccessPartProps {
  readonly name: string;
  /** Namespace of the gateway. */
  readonly namespace: string;
  /** Value of the label that proves the object ours: the set of clients that it is for, `all`, `tcp` or `networks`. */
  readonly set: string;
}

/** Properties of {@link ClientsAuthentication}. */
export interface ClientsAuthenticationProps extends AccessPartProps {
  /** TLS identities; `*` alone for every one in the mesh. */
  readonly identities: readonly string[];
}

/** A `policy.linkerd.io` MeshTLSAuthentication: a set of clients. */
export class ClientsAuthentication extends Construct {
  constructor(scope: Construct, id: string, { identities, ...props }: ClientsAuthenticationProps) {
    super(scope, id);
    this.node.addValidation({ validate: () => (identities.length > 0 ? [] : ['identities must not be empty']) });
    new ApiObject(this, 'Resource', {
      apiVersion: PolicyApi.authorization,
      kind: 'MeshTLSAuthentication',
      metadata: metadataOf(props),
      spec: { identities },
    });
  }
}

/** A network that clients connect from. */
export interface SourceNetwork {
  /** In CIDR notation. */
  readonly cidr?: string | undefined;
  /** Networks within it that clients may not connect from. */
  readonly except?: readonly string[] | undefined;
}

/** Properties of {@link KeptNetworks}. */
export interface KeptNetworksProps extends Pick<AccessPartProps, 'namespace' | 'set'> {
  readonly networks: readonly SourceNetwork[];
}

/**
 * A `policy.linkerd.io` NetworkAuthentication: the networks of source clusters, kept by the operator. Synthesis fails
 * without networks: nobody could come through the gateway.
 */
export class KeptNetworks extends Construct {
  constructor(scope: Construct, id: string, { networks, ...props }: KeptNetworksProps) {
    super(scope, id);
    this.node.addValidation({ validate: () => (networks.length > 0 ? [] : ['networks must not be empty']) });
    new ApiObject(this, 'Resource', {
      apiVersion: PolicyApi.authorization,
      kind: 'NetworkAuthentication',
      metadata: metadataOf({ name: PolicyApi.keptNetworks, ...props }),
      spec: { networks },
    });
  }
}

/** Properties of {@link GatewayAuthorization}. */
export interface GatewayAuthorizationProps extends AccessPartProps {
  /** What is authorized: a route, or the whole gateway, with all that is opaque to Linkerd. */
  readonly target: { readonly kind: 'HTTPRoute' | 'Server'; readonly name: string };
  /** Name of the MeshTLSAuthentication of who may. */
  readonly authentication: string;
}

/** A `policy.linkerd.io` AuthorizationPolicy: lets clients from the networks of source clusters use a route, or the Server. */
export class GatewayAuthorization extends Construct {
  constructor(scope: Construct, id: string, { target, authentication, ...props }: GatewayAuthorizationProps) {
    super(scope, id);
    const { namespace } = props;
    const required = (kind: string, name: string) => ({ group: PolicyApi.group, kind, name, namespace });
    new ApiObject(this, 'Resource', {
      apiVersion: PolicyApi.authorization,
      kind: 'AuthorizationPolicy',
      metadata: metadataOf(props),
      spec: {
        targetRef: { group: PolicyApi.group, ...target },
        requiredAuthenticationRefs: [
          required('MeshTLSAuthentication', authentication),
          required('NetworkAuthentication', PolicyApi.keptNetworks),
        ],
      },
    });
  }
}

/** Properties of {@link GatewayRoute}. */
export interface GatewayRouteProps extends AccessPartProps {
  /** Host names that it is for, 16 at most; `everything` for a route that takes what no other does. */
  readonly hosts: 'everything' | readonly string[];
}

/** Most host names of a route: its CRD takes no more. */
export const MAX_HOSTS = 16;

/** A `policy.linkerd.io` HTTPRoute of the Server of the gateway. Synthesis fails without host names: it would match them all. */
export class GatewayRoute extends Construct {
  constructor(scope: Construct, id: string, { hosts, ...props }: GatewayRouteProps) {
    super(scope, id);
    const isFit = hosts === 'everything' || (hosts.length > 0 && hosts.length <= MAX_HOSTS);
    this.node.addValidation({ validate: () => (isFit ? [] : [`hosts must be 1 to ${MAX_HOSTS}`]) });
    new ApiObject(this, 'Resource', {
      apiVersion: PolicyApi.route,
      kind: 'HTTPRoute',
      metadata: metadataOf(props),
      spec: {
        parentRefs: [{ group: PolicyApi.group, kind: 'Server', name: Default.gatewayName }],
        ...(hosts !== 'everything' && { hostnames: hosts }),
        rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/' } }] }],
      },
    });
  }
}

const metadataOf = ({ name, namespace, set }: AccessPartProps) => ({
  name,
  namespace,
  labels: { [Label.managedBy]: Value.managedBy, [Label.gatewayAccess]: set },
});
