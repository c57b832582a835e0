/** The manifests of a Link: the account in the target, and what the source has of it. Pure. */
import { Link, LinkCredentials, RemoteAccess } from '../../../constructs/index.ts';
import { type ApiJson, render } from '../../../constructs/mirror/render.ts';
import { syncWave } from '../../../constructs/argo-cd/sync-waves.ts';
import type { ApiServer } from './api-server.ts';
import type { LinkFlags } from './flags.ts';
import type { GatewayFacts } from './gateway.ts';
import type { Domains } from './target.ts';

/** The flags by the props that are made of them. */
export const FLAG_OF_PROP: Readonly<Record<string, string>> = {
  sourceCluster: '--source-name',
  targetCluster: '--name',
  namespace: '--namespace',
  linkerdNamespace: '--linkerd-namespace',
  targetLinkerdNamespace: '--linkerd-namespace',
  server: '--api-server-address',
  gatewayAddresses: '--gateway-addresses',
  gatewayPort: '--gateway-port',
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

/** In the target: the account that the source reads with. */
export const accessManifests = (sourceName: string, { namespace, flat }: LinkFlags): readonly ApiJson[] =>
  inOrder(
    render((chart) => {
      new RemoteAccess(chart, 'access', { sourceCluster: sourceName, namespace, flat });
    }),
  );

/** A token of the target, and the CA that the target gives with it: PEM, in base64. */
export interface Token {
  readonly token: string;
  readonly caData: string;
}

/** In the source: the credentials. The control plane gets its copy for flat mode alone. */
export const credentialsManifests = (
  { targetName, domains }: LinkSettings,
  { server, caData, tlsServerName }: ApiServer,
  { token, caData: ownCa }: Token,
  { namespace, linkerdNamespace, flat }: LinkFlags,
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

/** In the source: the Link. */
export const linkManifests = ({ targetName, domains, gateway }: LinkSettings, flags: LinkFlags): readonly ApiJson[] =>
  render((chart) => {
    new Link(chart, 'link', {
      targetCluster: targetName,
      namespace: flags.namespace,
      targetClusterDomain: domains.clusterDomain,
      targetTrustDomain: domains.trustDomain,
      targetLinkerdNamespace: flags.linkerdNamespace,
      ...(gateway && {
        gatewayAddresses: gateway.addresses,
        gatewayPort: gateway.port,
        gatewayIdentity: gateway.identity,
        probe: gateway.probe,
      }),
      excludedAnnotations: flags.excludedAnnotations,
      excludedLabels: flags.excludedLabels,
    });
  });
