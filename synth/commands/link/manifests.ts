/** The manifests of a Link: the account in the target, and what the source has of it. Pure. */
import { Link, LinkCredentials, RemoteAccess } from '../../../constructs/index.ts';
import { type ApiJson, render } from '../../../constructs/mirror/render.ts';
import { syncWave } from '../../../constructs/argo-cd/sync-waves.ts';
import type { LabelSelector } from '../../../crds/link/types.gen.ts';
import { SECRETS } from '../../../operator/kube/objects.ts';
import type { ApiServer } from './api-server.ts';
import type { Federation } from './flags.ts';
import type { GatewayFacts } from './gateway.ts';
import type { Domains } from '../common/linkerd.ts';
import type { Account, Token } from './token.ts';

/** The flags by the props that are made of them. */
export const FLAG_OF_PROP: Readonly<Record<string, string>> = {
  targetCluster: '--name',
  namespace: '--namespace',
  linkerdNamespace: '--linkerd-namespace',
  targetLinkerdNamespace: '--linkerd-namespace',
  server: '--api-server-address',
  gatewayAddresses: '--gateway-addresses',
  gatewayPort: '--gateway-port',
  excludedAnnotations: '--excluded-annotations',
  excludedLabels: '--excluded-labels',
};

/** Names and settings of one way. */
export interface LinkSettings {
  readonly sourceName: string;
  readonly targetName: string;
  readonly domains: Domains;
  /** Undefined: flat mode only. */
  readonly gateway: GatewayFacts | undefined;
}

/** What the API server must have before what needs it. */
const inOrder = (objects: readonly ApiJson[]): readonly ApiJson[] =>
  objects.toSorted((one, other) => syncWave(one.kind) - syncWave(other.kind));

/** What the account may do, and where its token is. */
export interface AccessSettings {
  /** Whether Linkerd may read the target with it, which mirrors and federated Services on a flat network need. */
  readonly flat: boolean;
  /** Name of the Secret that Kubernetes stores the token in. */
  readonly tokenSecret: string;
}

/** RemoteAccess makes names of it only where it is given none. */
const ANY_SOURCE = 'source';

/** In the target: the account that the source reads with. */
export const accessManifests = (
  { namespace, name }: Account,
  { flat, tokenSecret }: AccessSettings,
): readonly ApiJson[] =>
  inOrder(
    render((chart) => {
      new RemoteAccess(chart, 'access', { sourceCluster: ANY_SOURCE, name, namespace, flat });
    }),
  ).map((object) =>
    object.kind === SECRETS.kind ? { ...object, metadata: { ...object.metadata, name: tokenSecret } } : object,
  );

/** Where the source has Links and Linkerd, and whether Linkerd may read the target too. */
export interface SourcePlace {
  readonly namespace: string;
  readonly linkerdNamespace: string;
  readonly flat: boolean;
}

/** In the source: the credentials. The control plane gets its copy for flat mode alone. */
export const credentialsManifests = (
  { targetName, domains }: Pick<LinkSettings, 'targetName' | 'domains'>,
  { server, caData, tlsServerName }: ApiServer,
  { token, caData: ownCa }: Token,
  { namespace, linkerdNamespace, flat }: SourcePlace,
): readonly ApiJson[] =>
  render((chart) => {
    new LinkCredentials(chart, 'credentials', {
      targetCluster: targetName,
      server,
      caData: caData ?? ownCa,
      tlsServerName,
      token,
      namespace,
      linkerdNamespace,
      targetClusterDomain: domains.clusterDomain,
      targetTrustDomain: domains.trustDomain,
      copies: flat ? 'both' : 'link',
    });
  });

/** What a Link selects, and what mirrors do not get. */
export interface LinkContents {
  readonly namespace: string;
  readonly linkerdNamespace: string;
  /** @default - as the operator is set */
  readonly enableHeadlessServices?: true;
  /** @default - as the operator is set */
  readonly enableNamespaceCreation?: true;
  readonly excludedAnnotations?: readonly string[];
  readonly excludedLabels?: readonly string[];
  /** @default - on a flat network */
  readonly federation?: Federation | undefined;
  /** Whether ServiceExports of the target are imported. */
  readonly serviceExports: boolean;
  /** @default - those that Linkerd's labels select */
  readonly selectors?: {
    /** Undefined without a gateway. */
    readonly selector: LabelSelector | undefined;
    readonly remoteDiscoverySelector: LabelSelector;
    readonly federatedServiceSelector: LabelSelector;
  };
}

/** In the source: the Link. */
export const linkManifests = (
  { targetName, domains, gateway }: Omit<LinkSettings, 'sourceName'>,
  { namespace, linkerdNamespace, selectors, ...contents }: LinkContents,
): readonly ApiJson[] =>
  render((chart) => {
    new Link(chart, 'link', {
      targetCluster: targetName,
      namespace,
      targetClusterDomain: domains.clusterDomain,
      targetTrustDomain: domains.trustDomain,
      targetLinkerdNamespace: linkerdNamespace,
      ...(gateway && {
        gatewayAddresses: gateway.addresses,
        gatewayPort: gateway.port,
        gatewayIdentity: gateway.identity,
        probe: gateway.probe,
      }),
      ...selectors,
      federation: contents.federation,
      serviceExports: contents.serviceExports,
      enableHeadlessServices: contents.enableHeadlessServices,
      enableNamespaceCreation: contents.enableNamespaceCreation,
      excludedAnnotations: contents.excludedAnnotations,
      excludedLabels: contents.excludedLabels,
    });
  });
