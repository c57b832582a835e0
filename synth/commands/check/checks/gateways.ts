/** Checks of gateways: as the operator finds them, and as they are in the target. */
import { Default } from '../../../../crds/wire.ts';
import { type Check, error, type Finding, warning } from '../check-type.ts';
import { NOT_PROBED } from '../../common/link-status.ts';
import { linkAgain, operatorLog } from '../../common/remedies.ts';
import {
  conditionOf,
  conditionText,
  eachLink,
  notFalse,
  notJudged,
  type NotJudged,
  placeOf,
} from '../link-judgement.ts';
import type { LinkFacts, Survey } from '../survey.ts';
import { givenGateway } from '../target.ts';

const CATEGORY = 'gateways';

const addressesOf = (link: LinkFacts): readonly string[] => {
  const gateway = link.target?.gateway;
  const ingress = (gateway?.ok === true && gateway.value?.service.status?.loadBalancer?.ingress) || [];
  return ingress.flatMap(({ ip, hostname }) => ip ?? hostname ?? []);
};

const aliveFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  if (link.settings?.gateway === undefined) return notJudged('the Link has no gateway');
  if (link.conditions?.get('GatewayAlive')?.reason === NOT_PROBED) return notJudged('the Link has no probe');
  return conditionOf(link, survey, 'GatewayAlive', (condition) => {
    if (condition.status === 'True') return [];
    if (condition.status === 'Unknown') {
      return [
        warning(
          link.title,
          'there is no verdict on the gateway yet',
          `wait a moment, then ${operatorLog(placeOf(link, survey))}`,
        ),
      ];
    }
    const named = link.settings?.gateway?.addresses ?? [];
    // Addresses that were given by flag are not those of the Service, and stay when it is linked again.
    const isGiven = givenGateway(link.object).addresses !== undefined;
    const now = isGiven ? [] : addressesOf(link).filter((address) => !named.includes(address));
    const remedy =
      now.length === 0
        ? `see the pods of the gateway in ${link.cluster}, and whether nodes of ${survey.context} can reach its addresses${isGiven ? `, ${named.join(', ')}, as they were given` : ''}`
        : `the gateway of ${link.cluster} has address ${now.join(', ')} now: link the cluster again: ${linkAgain(placeOf(link, survey), link)}`;
    return [error(link.title, conditionText(condition), remedy)];
  });
};

const targetFindings = (link: LinkFacts): readonly Finding[] | NotJudged => {
  const { settings, target, cluster } = link;
  if (settings?.gateway === undefined) return notJudged('the Link has no gateway');
  if (target?.gateway.ok !== true) return notJudged("the gateway's Service cannot be read");
  const { gatewayNamespace } = target;
  const found = target.gateway.value;
  if (found === undefined) {
    const isAlive = link.conditions?.get('GatewayAlive')?.status === 'True';
    const object = `namespace ${gatewayNamespace} of ${cluster}`;
    const remedy = `install the gateway in ${cluster}`;
    return [(isAlive ? warning : error)(object, 'has no Service of a gateway', remedy)];
  }
  const { namespace = '', name } = found.service.metadata;
  const remedy = `see its Deployment and pods in namespace ${namespace} of ${cluster}`;
  return found.ready > 0 ? [] : [error(`Service ${namespace}/${name} of ${cluster}`, 'has no ready endpoint', remedy)];
};

const portFindings = (link: LinkFacts, survey: Survey): readonly Finding[] | NotJudged => {
  const { settings, target, title, cluster } = link;
  if (settings?.gateway === undefined) return notJudged('the Link has no gateway');
  const found = target?.gateway.ok === true ? target.gateway.value : undefined;
  if (found === undefined) return notJudged("the gateway's Service cannot be read");
  const wanted = [
    ['spec.gatewayPort', settings.gateway.port, Default.gatewayPortName],
    ['spec.probeSpec.port', settings.probe?.port, Default.probePortName],
  ] as const;
  return wanted.flatMap(([field, port, name]) => {
    const listed = found.service.spec?.ports?.find((each) => each.name === name);
    if (port === undefined) return [];
    if (listed === undefined) {
      const { namespace = '', name: service } = found.service.metadata;
      const object = `Service ${namespace}/${service} of ${cluster}`;
      return [warning(object, `has no port ${name}: ${field} cannot be compared`, 'see which of its ports is meant')];
    }
    if ([listed.port, listed.nodePort].includes(port)) return [];
    const reason = `has ${field} "${port}", and port ${name} of the gateway of ${cluster} is ${listed.port}`;
    // A port that was given by flag stays unless another is given.
    const isGiven = name === Default.gatewayPortName && givenGateway(link.object).port !== undefined;
    const flags = isGiven ? ['--gateway-port', String(listed.port)] : [];
    const again = linkAgain(placeOf(link, survey), link, undefined, ...flags);
    const remedy = `unless something in between changes the port, link the cluster again: ${again}`;
    return [warning(title, reason, remedy)];
  });
};

export const GATEWAY_CHECKS: readonly Check<Survey>[] = [
  {
    id: 'gateway-resolved',
    category: CATEGORY,
    title: 'the addresses of gateways are known',
    means: 'A host name of the gateway does not resolve. Addresses that were known stay in use.',
    remedy: 'Correct `spec.gatewayAddress`, or the DNS name.',
    judge: (survey) => notFalse(survey, 'GatewayResolved', () => 'correct spec.gatewayAddress, or the DNS name'),
  },
  {
    id: 'gateway-alive',
    category: CATEGORY,
    title: 'gateways are alive',
    means:
      'The gateway does not answer the probes of the operator. The endpoints of its mirrors are marked not ready, so that clients fail over or fail fast.',
    remedy: 'See the pods of the gateway in the target, its address and port, and firewalls.',
    judge: (survey) => eachLink(survey, aliveFindings),
  },
  {
    id: 'target-gateway',
    category: CATEGORY,
    title: 'targets have a gateway with ready pods',
    means: "The gateway's Service is missing in the target, or none of its pods is ready.",
    remedy: 'Install the gateway, or see its Deployment and pods in the target.',
    judge: (survey) => eachLink(survey, targetFindings),
  },
  {
    id: 'gateway-ports',
    category: CATEGORY,
    title: 'Links name the ports of gateways',
    means:
      "The Link names other ports than the gateway's Service has. That is right only where something in between changes them.",
    remedy: 'Link the cluster again, or correct `spec.gatewayPort` and `spec.probeSpec.port`.',
    judge: (survey) => eachLink(survey, portFindings),
  },
];
