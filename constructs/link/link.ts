/**
 * A Link: which target cluster, how it is reached and what is mirrored from it.
 * Its fields are strings and comma-separated lists on the wire; here they are numbers, durations and arrays, and the
 * defaults are what `linkerd multicluster link` writes. The operator checks Links by the same rules.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { type LinkSettings, readLink } from '../../crds/link/settings.ts';
import type { LabelSelector, LinkSpec, ProbeSpec } from '../../crds/link/types.gen.ts';
import { credentialsName, Default, gatewayIdentity, Label, LinkApi, Value } from '../../crds/wire.ts';
import {
  annotationsErrors,
  dnsLabel,
  dnsSubdomain,
  excludedErrors,
  gatewayAddress,
  labelsErrors,
  targetClusterName,
} from '../common/prop-rules.ts';
import { acceptProps, beside } from '../common/props.ts';
import { goDuration, type TimeSpan } from '../common/time-span.ts';
import { LINK_PROPS } from './schema.ts';

/** How the health of a target's gateway is probed. */
export interface LinkProbe {
  /**
   * Path of the health endpoint.
   * @default /ready
   */
  readonly path?: string | undefined;
  /**
   * Port of the health endpoint.
   * @default 4191
   */
  readonly port?: number | undefined;
  /**
   * Time between probes.
   * @default 3s
   */
  readonly period?: TimeSpan | undefined;
  /**
   * Time after which a probe has failed.
   * @default 30s
   */
  readonly timeout?: TimeSpan | undefined;
  /**
   * Consecutive failures that make the gateway not alive.
   * @default 3
   */
  readonly failureThreshold?: number | undefined;
}

/** Properties of {@link Link}. */
export interface LinkProps {
  /** Name of the target cluster; mirrors are called `<service>-<name>`. */
  readonly targetCluster: string;
  /**
   * Name of the Link.
   * @default - that of the target cluster
   */
  readonly name?: string | undefined;
  /**
   * Namespace of the Link.
   * @default - the chart's, else `linkerd-multicluster`
   */
  readonly namespace?: string | undefined;
  /**
   * Labels of the Link.
   * @default - none
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Annotations of the Link.
   * @default - none
   */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /**
   * DNS domain of the target cluster.
   * @default cluster.local
   */
  readonly targetClusterDomain?: string | undefined;
  /**
   * Identity trust domain of the target's Linkerd, which the gateway's identity is of.
   * @default - the target's cluster domain
   */
  readonly targetTrustDomain?: string | undefined;
  /**
   * Namespace of Linkerd's control plane in the target cluster.
   * @default linkerd
   */
  readonly targetLinkerdNamespace?: string | undefined;
  /**
   * Name of the Secret with the kubeconfig of the target cluster, in the Link's namespace.
   * @default - `cluster-credentials-<target cluster>`, as LinkCredentials has it
   */
  readonly clusterCredentialsSecret?: string | undefined;
  /**
   * The only namespaces of the target cluster that are read, as its RemoteAccess has them in `exportNamespaces`. Linkerd's own
   * CRD drops this.
   * @default - all
   */
  readonly targetNamespaces?: readonly string[] | undefined;
  /**
   * IP addresses and host names of the target's gateway.
   * @default - no gateway: flat and federated mode only
   */
  readonly gatewayAddresses?: readonly string[] | undefined;
  /**
   * Port of the target's gateway.
   * @default 4143
   */
  readonly gatewayPort?: number | undefined;
  /**
   * TLS identity of the target's gateway.
   * @default - that of `linkerd-gateway` in `linkerd-multicluster`, of the target's trust domain
   */
  readonly gatewayIdentity?: string | undefined;
  /**
   * How the gateway's health is probed.
   * @default - path /ready on port 4191, every 3 s
   */
  readonly probe?: LinkProbe | undefined;
  /**
   * Services to mirror through the gateway; `{}` selects none.
   * @default - with a gateway, those labelled `mirror.linkerd.io/exported: "true"`
   */
  readonly selector?: LabelSelector | undefined;
  /**
   * Services to mirror in flat mode; `{}` selects none.
   * @default - those labelled `mirror.linkerd.io/exported: remote-discovery`
   */
  readonly remoteDiscoverySelector?: LabelSelector | undefined;
  /**
   * Services that join the federated Service of their name; `{}` selects none. For Linkerd's controller: Linkspan's operator
   * does not make federated Services yet.
   * @default - those labelled `mirror.linkerd.io/federated: member`
   */
  readonly federatedServiceSelector?: LabelSelector | undefined;
  /**
   * Labels not to copy to mirrors, beyond those that never are: exact keys, or `prefix/*`.
   * @default - none
   */
  readonly excludedLabels?: readonly string[] | undefined;
  /**
   * Annotations not to copy to mirrors, beyond those that never are: exact keys, or `prefix/*`.
   * @default - none
   */
  readonly excludedAnnotations?: readonly string[] | undefined;
  /**
   * Whether headless Services are mirrored pod by pod.
   * @default - the operator's default
   */
  readonly enableHeadlessServices?: boolean | undefined;
  /**
   * Whether namespaces that mirrors need are created.
   * @default - the operator's default
   */
  readonly enableNamespaceCreation?: boolean | undefined;
}

/**
 * A `multicluster.linkerd.io/v1alpha3` Link.
 * Invalid is everything for which the operator would not accept the Link.
 */
export class Link extends Construct {
  /** Name of the Link. */
  readonly name: string;
  /** Namespace of the Link. */
  readonly namespace: string;
  /** Name of the target cluster. */
  readonly targetCluster: string;
  /** The Link object. */
  readonly link: ApiObject;

  constructor(scope: Construct, id: string, given: LinkProps) {
    super(scope, id);
    const namespaceOf = (props: LinkProps): string =>
      props.namespace ?? Chart.of(this).namespace ?? Default.multiclusterNamespace;
    const props = acceptProps(this, LINK_PROPS, given, STAND_IN, (given) => ({
      construct: `Link ${namespaceOf(given)}/${given.name ?? given.targetCluster}`,
      found: linkErrors(given, namespaceOf(given)),
    }));
    this.targetCluster = props.targetCluster;
    this.name = props.name ?? props.targetCluster;
    this.namespace = namespaceOf(props);
    const { labels, annotations } = props;
    const metadata = {
      name: this.name,
      namespace: this.namespace,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    };
    const spec = linkSpec(props);
    this.link = new ApiObject(this, 'Resource', { apiVersion: LinkApi.apiVersion, kind: LinkApi.kind, metadata, spec });
  }
}

const STAND_IN: LinkProps = { targetCluster: 'invalid' };

const linkErrors = (props: LinkProps, namespace: string): readonly (FieldError | undefined)[] => {
  const name = props.name ?? props.targetCluster;
  const own = [
    targetClusterName('targetCluster', props.targetCluster),
    props.name === undefined ? undefined : dnsSubdomain('name', name),
    dnsLabel('namespace', namespace),
    ...labelsErrors('labels', props.labels),
    ...annotationsErrors('annotations', props.annotations),
    props.targetTrustDomain === undefined ? undefined : dnsSubdomain('targetTrustDomain', props.targetTrustDomain),
    ...gatewayErrors(props),
    ...excludedErrors('excludedLabels', props.excludedLabels),
    ...excludedErrors('excludedAnnotations', props.excludedAnnotations),
  ].filter((error) => error !== undefined);
  // Through JSON, as the operator reads it: undefined fields are absent.
  const read = readLink(JSON.parse(JSON.stringify({ metadata: { name, namespace }, spec: linkSpec(props) })));
  const inSpec = read.ok ? selectorErrors(read.value) : read.errors.map((error) => byProp(error, props));
  return [...own, ...beside(own, inSpec)];
};

/** What says how a gateway is reached must not be without one. */
const gatewayErrors = ({ gatewayAddresses, ...props }: LinkProps): readonly (FieldError | undefined)[] => {
  if (gatewayAddresses?.length === 0) {
    return [
      fieldError('gatewayAddresses', gatewayAddresses, 'must not be empty', 'name one, or leave it out for none'),
    ];
  }
  if (gatewayAddresses !== undefined) {
    return gatewayAddresses.map((address, index) => gatewayAddress(`gatewayAddresses[${index}]`, address));
  }
  const dropped = (['gatewayPort', 'gatewayIdentity', 'probe'] as const).filter((prop) => props[prop] !== undefined);
  return dropped.map((prop) =>
    fieldError(prop, props[prop], 'must not be set without gatewayAddresses', 'write them, or remove it'),
  );
};

/** The operator serves such a Link, as Linkerd does, and reports on each Service; written down it is a mistake. */
const selectorErrors = ({ selector, gateway }: LinkSettings): readonly FieldError[] =>
  selector === undefined || gateway !== undefined
    ? []
    : [
        fieldError(
          'gatewayAddresses',
          undefined,
          'is required: selector mirrors Services through the gateway',
          "write the gateway's addresses, or select with remoteDiscoverySelector instead",
        ),
      ];

/** A spec whose undefined fields are not rendered. */
type Spec = { readonly [Field in keyof LinkSpec]: LinkSpec[Field] | undefined };

const linkSpec = (props: LinkProps): Spec => {
  const domain = props.targetClusterDomain ?? Default.clusterDomain;
  const linkerdNamespace = props.targetLinkerdNamespace ?? Default.controlPlaneNamespace;
  const gateway = props.gatewayAddresses && {
    selector: { matchLabels: { [Label.exported]: Value.true } },
    gatewayAddress: props.gatewayAddresses.join(','),
    gatewayPort: String(props.gatewayPort ?? Default.gatewayPort),
    gatewayIdentity: props.gatewayIdentity ?? gatewayIdentity(linkerdNamespace, props.targetTrustDomain ?? domain),
    probeSpec: probeSpec(props.probe ?? {}),
  };
  return {
    targetClusterName: props.targetCluster,
    targetClusterDomain: domain,
    targetClusterLinkerdNamespace: linkerdNamespace,
    clusterCredentialsSecret: props.clusterCredentialsSecret ?? credentialsName(props.targetCluster),
    targetNamespaces: props.targetNamespaces && [...props.targetNamespaces],
    ...gateway,
    ...(props.selector && { selector: props.selector }),
    remoteDiscoverySelector: props.remoteDiscoverySelector ?? {
      matchLabels: { [Label.exported]: Value.remoteDiscovery },
    },
    federatedServiceSelector: props.federatedServiceSelector ?? {
      matchLabels: { [Label.federated]: Value.federatedMember },
    },
    excludedLabels: props.excludedLabels && [...props.excludedLabels],
    excludedAnnotations: props.excludedAnnotations && [...props.excludedAnnotations],
    enableHeadlessServices: props.enableHeadlessServices,
    enableNamespaceCreation: props.enableNamespaceCreation,
  };
};

const probeSpec = ({
  path = Default.probePath,
  port = Default.probePort,
  period = '3s',
  timeout = '30s',
  failureThreshold = 3,
}: LinkProbe): ProbeSpec => ({
  path,
  port: String(port),
  period: goDuration(period),
  timeout: goDuration(timeout),
  failureThreshold: String(failureThreshold),
});

/** A finding on a field of the spec, under the name of the prop that it comes from, and with its value. */
const byProp = (error: FieldError, props: LinkProps): FieldError => {
  const path = error.path
    .replace(/^spec\.probeSpec\b/, 'probe')
    .replace(/^spec\.gatewayAddress\b/, 'gatewayAddresses')
    .replace(/^spec\.targetClusterName\b/, 'targetCluster')
    .replace(/^spec\.targetClusterLinkerdNamespace\b/, 'targetLinkerdNamespace')
    .replace(/^(spec|metadata)\./, '');
  const remedy = error.remedy?.replace(', as a string', '');
  const [field = '', inner] = path.split('.');
  const outer = (props as unknown as Readonly<Record<string, unknown>>)[field];
  const value = inner === undefined ? outer : (outer as Readonly<Record<string, unknown>> | undefined)?.[inner];
  const isScalar = typeof value === 'number' || typeof value === 'string';
  return isScalar ? fieldError(path, value, error.reason, remedy) : { ...error, path, ...(remedy && { remedy }) };
};
