/** The manifests of a Link: the account in the target, and what the source has of it. Pure. */
import { Link, LinkCredentials, RemoteAccess } from '../../../constructs/index.ts';
import { type ApiJson, render } from '../../../constructs/rendered/render.ts';
import { syncWave } from '../../../constructs/argo-cd/sync-waves.ts';
import type { LabelSelector, LinkSpec } from '../../../crds/link/types.gen.ts';
import { Annotation, credentialsName, TOKEN_SECRET_TYPE } from '../../../crds/wire.ts';
import { SECRETS } from '../../../operator/kube/objects.ts';
import { SERVICE_ACCOUNTS } from '../common/kinds.ts';
import type { ApiServer } from './api-server.ts';
import type { Federation } from './flags.ts';
import type { GatewayFacts } from './gateway.ts';
import type { Domains } from '../common/linkerd.ts';
import type { Account } from './token.ts';

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
  exportNamespaces: '--export-namespaces',
  targetNamespaces: '--export-namespaces',
};

/** Names and settings of one way. */
export interface LinkSettings {
  readonly sourceName: string;
  readonly targetName: string;
  readonly domains: Domains;
  /** Undefined in flat mode. */
  readonly gateway: GatewayFacts | undefined;
  /** Namespace of the target's control plane. */
  readonly linkerdNamespace: string;
}

/** What the API server must have before what needs it. */
const inOrder = (objects: readonly ApiJson[]): readonly ApiJson[] =>
  objects.toSorted((one, other) => syncWave(one.kind) - syncWave(other.kind));

/** What the account may do, and where its token is. */
export interface AccessSettings {
  /** Whether Linkerd may read the target with it, which mirrors and federated Services on a flat network need. */
  readonly flat: boolean;
  /** The only namespaces that it may read. @default - all */
  readonly exportNamespaces?: readonly string[] | undefined;
  /** Whether it is to lack the rights of Linkerd's own controller, as it does already. @default false */
  readonly lacksController?: boolean;
  /** Name of the Secret that its tokens are bound to. */
  readonly peerSecret: string;
  /** Name of the Secret that Kubernetes stores a token in that does not end. @default - none */
  readonly tokenSecret?: string | undefined;
  /** The source cluster that it records. @default - none */
  readonly sourceUid?: string | undefined;
}

/** RemoteAccess makes names of it only where it is given none. */
const ANY_SOURCE = 'source';

/** In the target: the account that the source reads with. */
export const accessManifests = (
  { namespace, name }: Account,
  { flat, exportNamespaces, lacksController, peerSecret, tokenSecret = '', sourceUid }: AccessSettings,
): readonly ApiJson[] =>
  inOrder(
    render((chart) => {
      new RemoteAccess(chart, 'access', {
        ...{ sourceCluster: ANY_SOURCE, name, namespace, flat, exportNamespaces },
        longLivedToken: tokenSecret !== '',
        linkerdController: lacksController === true ? false : undefined,
      });
    }),
  ).map((object) => {
    if (object.kind === SECRETS.kind) {
      const secret = object['type'] === TOKEN_SECRET_TYPE ? tokenSecret : peerSecret;
      return { ...object, metadata: { ...object.metadata, name: secret } };
    }
    return object.kind === SERVICE_ACCOUNTS.kind
      ? annotated(object, { [Annotation.sourceClusterUid]: sourceUid })
      : object;
  });

/** An object with these annotations, but for those that have no value. */
export const annotated = (object: ApiJson, values: Readonly<Record<string, string | undefined>>): ApiJson => {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (given.length === 0) return object;
  const annotations = { ...object.metadata.annotations, ...Object.fromEntries(given) };
  return { ...object, metadata: { ...object.metadata, annotations } };
};

/** Where the source has Links and Linkerd, and whether Linkerd may read the target too. */
export interface SourcePlace {
  readonly namespace: string;
  readonly linkerdNamespace: string;
  /** Name of the Secret of the Link. @default - cluster-credentials-<target> */
  readonly secretName?: string | undefined;
  /** The target cluster that it records. @default - none */
  readonly targetUid?: string | undefined;
  /** What a rotation that was stopped has yet to do. @default - nothing */
  readonly rotation?: string | undefined;
}

/** What the source reads the target with. */
export interface SourceTokens {
  /** Of the Link. */
  readonly link: string;
  /** Of Linkerd's copy; undefined if there is to be none. */
  readonly copy: string | undefined;
}

/**
 * In the source: the credentials. The control plane gets its copy for flat mode alone, and gets it first: the Secret of the
 * Link says what is yet to be done.
 */
export const credentialsManifests = (
  { targetName, domains }: Pick<LinkSettings, 'targetName' | 'domains'>,
  { server, caData, tlsServerName }: ApiServer & { readonly caData: string },
  tokens: SourceTokens,
  { namespace, linkerdNamespace, secretName = credentialsName(targetName), targetUid, rotation }: SourcePlace,
): readonly ApiJson[] => {
  const rendered = (token: string, copies: 'link' | 'both'): readonly ApiJson[] =>
    render((chart) => {
      new LinkCredentials(chart, 'credentials', {
        targetCluster: targetName,
        server,
        caData,
        tlsServerName,
        token,
        namespace,
        linkerdNamespace,
        targetClusterDomain: domains.clusterDomain,
        targetTrustDomain: domains.trustDomain,
        copies,
      });
    });
  const isLinks = ({ metadata }: ApiJson): boolean => metadata.namespace === namespace;
  const copies = tokens.copy === undefined ? [] : rendered(tokens.copy, 'both').filter((each) => !isLinks(each));
  const own = rendered(tokens.link, 'link').map((object) =>
    annotated(
      { ...object, metadata: { ...object.metadata, name: secretName } },
      { [Annotation.targetClusterUid]: targetUid, [Annotation.rotation]: rotation },
    ),
  );
  return [...copies, ...own];
};

/** What a Link selects, and what mirrors do not get. */
export interface LinkContents {
  readonly namespace: string;
  /** @default - the name of the target */
  readonly name?: string | undefined;
  /** @default - as the operator is set */
  readonly enableHeadlessServices?: boolean | undefined;
  /** @default - as the operator is set */
  readonly enableNamespaceCreation?: boolean | undefined;
  readonly excludedAnnotations?: readonly string[];
  readonly excludedLabels?: readonly string[];
  /** @default - on a flat network */
  readonly federation?: Federation | undefined;
  /** Whether ServiceExports of the target are imported. @default true */
  readonly serviceExports?: boolean | undefined;
  /** The only namespaces of the target that are read. @default - all */
  readonly exportNamespaces?: readonly string[] | undefined;
  /** Name of the Secret with the credentials. @default - cluster-credentials-<target> */
  readonly secretName?: string | undefined;
  /** Whether Services are mirrored in flat mode. @default true */
  readonly flat?: boolean | undefined;
  /** @default - those that Linkerd's labels select */
  readonly selectors?: {
    /** Undefined without a gateway. */
    readonly selector: LabelSelector | undefined;
    readonly remoteDiscoverySelector: LabelSelector;
    readonly federatedServiceSelector: LabelSelector;
  };
}

/** In the source: the Link. */
export const linkManifest = (
  { targetName, domains, gateway, linkerdNamespace }: Omit<LinkSettings, 'sourceName'>,
  { namespace, name = targetName, selectors, ...contents }: LinkContents,
): ApiJson => {
  const [rendered] = render((chart) => {
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
      targetNamespaces: contents.exportNamespaces,
      clusterCredentialsSecret: contents.secretName,
    });
  });
  if (rendered === undefined) throw new Error('a Link is one object');
  const link: ApiJson = { ...rendered, metadata: { ...rendered.metadata, name } };
  if (contents.flat !== false) return link;
  // An absent selector selects nothing. An empty one could not be applied over one that selects something.
  const { remoteDiscoverySelector: _, ...spec } = link['spec'] as LinkSpec;
  return { ...link, spec };
};
