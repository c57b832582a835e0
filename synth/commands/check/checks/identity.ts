/** Checks of what meshes must have in common, and of what a Link says of the mesh of its target. */
import { Annotation } from '../../../../crds/wire.ts';
import { type Check, error, type Finding, skipped, warning } from '../check-type.ts';
import { eachLink, notJudged, type NotJudged, placeOf } from '../link-judgement.ts';
import { type Linkerd, LINKERD_CONFIG } from '../../common/linkerd.ts';
import { byLinkerd, linkAgain, patchLink } from '../../common/remedies.ts';
import type { LinkerdRead } from '../linkerd.ts';
import type { LinkFacts, Survey } from '../survey.ts';
import { type Bundle, distrust, readBundle } from '../trust.ts';

const CATEGORY = 'identity';

const known = (linkerd: LinkerdRead | undefined): Linkerd | undefined =>
  linkerd?.ok === true && linkerd.value !== undefined && !('invalid' in linkerd.value) ? linkerd.value : undefined;

const anchorFindings = (link: LinkFacts, own: Bundle, survey: Survey): readonly Finding[] | NotJudged => {
  const { context, now } = survey;
  const { target, cluster, settings } = link;
  if (target === undefined || settings === undefined || !target.version.ok)
    return notJudged('the target cannot be read');
  const { linkerd } = target;
  const config = `ConfigMap ${settings.linkerdNamespace}/${LINKERD_CONFIG} of ${cluster}`;
  if (!linkerd.ok) {
    return [
      warning(
        config,
        `the trust anchors cannot be compared: ${linkerd.why}`,
        `grant the account the right to read it, or compare them by hand`,
      ),
    ];
  }
  if (linkerd.value === undefined) {
    return [error(config, 'not found', 'install Linkerd there, or name its namespace in the Link')];
  }
  if ('invalid' in linkerd.value)
    return [error(config, `is not valid YAML: ${linkerd.value.invalid}`, 'see what linkerd check finds there')];
  const theirs = readBundle(linkerd.value.anchors);
  if (!theirs.ok) return [error(`trust anchors of ${cluster}`, theirs.reason, 'see what linkerd check finds there')];
  if (!own.ok) return [error(`trust anchors of ${context}`, own.reason, `see ${byLinkerd(survey, 'check')}`)];
  const reason = distrust(own.anchors, theirs.anchors, now);
  const remedy = 'give both meshes a bundle with the anchors of both, and restart what is meshed';
  return reason === undefined ? [] : [error(`${context} and ${cluster}`, reason, remedy)];
};

/** What an identity of a gateway is in its target. */
const identityFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  const { settings, target, title, cluster } = link;
  const gateway = settings?.gateway;
  if (gateway === undefined) return notJudged('the Link has no gateway');
  const remedy = `link the cluster again, which reads it from the gateway: ${linkAgain(placeOf(link, survey), link)}`;
  if (gateway.identity === undefined) {
    return [error(title, 'has no spec.gatewayIdentity: proxies send plaintext, which gateways refuse', remedy)];
  }
  const service = target?.gateway.ok === true ? target.gateway.value?.service : undefined;
  const named = service?.metadata.annotations?.[Annotation.gatewayIdentity];
  if (named !== undefined && named !== gateway.identity) {
    return [
      error(
        title,
        `has spec.gatewayIdentity "${gateway.identity}", and the gateway of ${cluster} is "${named}"`,
        remedy,
      ),
    ];
  }
  const linkerd = known(target?.linkerd);
  if (named !== undefined) return [];
  if (linkerd === undefined) return notJudged("neither the gateway's Service nor Linkerd's settings can be read");
  const end = `.identity.${settings?.linkerdNamespace ?? ''}.${linkerd.trustDomain}`;
  return gateway.identity.endsWith(end)
    ? []
    : [error(title, `has spec.gatewayIdentity "${gateway.identity}", and those of ${cluster} end in "${end}"`, remedy)];
};

/** Whether an export that names a client admits that of another cluster, too (rule M6). */
const domainFindings = (link: LinkFacts, own: Linkerd, { context }: Survey): readonly Finding[] | NotJudged => {
  const theirs = known(link.target?.linkerd);
  if (theirs === undefined) return notJudged("the target's settings cannot be read");
  if (theirs.trustDomain !== own.trustDomain) return [];
  const reason = `share the trust domain "${own.trustDomain}": an export that names a client admits the ServiceAccount of that name in both`;
  const remedy =
    'name ServiceAccounts that only one of them has, or install Linkerd with an identityTrustDomain for each cluster';
  return [warning(`${context} and ${link.cluster}`, reason, remedy)];
};

export const IDENTITY_CHECKS: readonly Check<Survey>[] = [
  {
    id: 'trust-anchors',
    category: CATEGORY,
    title: 'clusters share trust anchors',
    means:
      'Proxies of the two clusters do not trust each other: every connection through a gateway fails. Bundles are compared as certificates. One valid anchor in common is enough, so that they can be rotated.',
    remedy: 'Give both meshes a bundle with the anchors of both.',
    judge: (survey) => {
      const linkerd = known(survey.linkerd);
      if (linkerd === undefined) return skipped("Linkerd's settings in the source cannot be read");
      const own = readBundle(linkerd.anchors);
      return eachLink(survey, (link) => anchorFindings(link, own, survey));
    },
  },
  {
    id: 'gateway-identity',
    category: CATEGORY,
    title: 'Links name the identities of gateways',
    means: 'Proxies expect another identity than the gateway has, and end each connection to it.',
    remedy: 'Write the identity that is named into `spec.gatewayIdentity`, or link the cluster again.',
    judge: (survey) => eachLink(survey, identityFindings),
  },
  {
    id: 'trust-domains',
    category: CATEGORY,
    title: 'clusters whose exports name clients have trust domains of their own',
    means:
      'A client is a ServiceAccount and a trust domain. In clusters that share a trust domain, the clients of one name cannot be told apart: an export that is meant for one cluster admits those of the others.',
    remedy:
      'Name ServiceAccounts that only one cluster has, or give each cluster a trust domain of its own when Linkerd is installed.',
    judge: (survey) => {
      if (survey.gatewayAccess !== 'clients') return skipped('gatewayAccess is not "clients": exports name no clients');
      const own = known(survey.linkerd);
      if (own === undefined) return skipped("Linkerd's settings in the source cannot be read");
      return eachLink(survey, (link) => domainFindings(link, own, survey));
    },
  },
  {
    id: 'cluster-domain',
    category: CATEGORY,
    title: 'Links name the DNS domains of targets',
    means: 'Requests carry a name of the Service that the gateway of the target does not know, and are refused.',
    remedy: 'Write the domain that is named into `spec.targetClusterDomain`, or link the cluster again.',
    judge: (survey) =>
      eachLink(survey, (link) => {
        const { settings, target, title, name, cluster } = link;
        const linkerd = known(target?.linkerd);
        if (settings === undefined || linkerd === undefined) return notJudged("the target's settings cannot be read");
        const { clusterDomain } = linkerd;
        const reason = `has spec.targetClusterDomain "${settings.clusterDomain}", and ${cluster} is "${clusterDomain}"`;
        const remedy = `correct it: ${patchLink(placeOf(link, survey), name, { targetClusterDomain: clusterDomain })}`;
        return settings.clusterDomain === clusterDomain ? [] : [error(title, reason, remedy)];
      }),
  },
];
