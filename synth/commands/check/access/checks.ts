/** The checks of `linkspan check --gateway-access`, in the order in which they are printed. */
import { GATEWAY_LABELS } from '../../../../constructs/gateway/gateway-service.ts';
import { Default, Label, OPERATOR_NAME, PolicyApi } from '../../../../crds/wire.ts';
import { sourceNetworks } from '../../../../operator/access/networks.ts';
import { isForeign } from '../../../../operator/access/objects.ts';
import { flagOf } from '../../../../crds/operator-setting-names.ts';
import { byInstall, byKubectl, operatorLog } from '../../common/remedies.ts';
import { type Check, error, type Finding, type Judgement, judged, skipped, warning } from '../check-type.ts';
import { USE_CHECKS } from './use-checks.ts';
import { usageFindings } from './usage-findings.ts';
import type { AccessFacts } from './verdicts.ts';

const CATEGORY = 'gateway-access';

const operatorFindings = (facts: AccessFacts): readonly Finding[] => {
  const { operator, config, namespace, outlook } = facts;
  const object = `Deployment ${namespace}/${OPERATOR_NAME}`;
  if (!operator.ok) return [];
  if (operator.value === undefined)
    return [warning(object, 'not found: nobody writes the policy of the gateway', `install it: ${byInstall(facts)}`)];
  if (config === undefined)
    return [
      warning(object, 'its settings cannot be read', `use the linkspan of its version, or ${operatorLog(facts)}`),
    ];
  if (config.mirrorNamespaces !== undefined) {
    const reason = `has ${flagOf('mirrorNamespaces')}, and does not see what other namespaces export: it refuses ${flagOf('gatewayAccess')}`;
    return [error(object, reason, 'leave it out, or the policy of the gateway as it is')];
  }
  if (config.gatewayAccess === undefined || outlook === undefined) return [];
  return (['clusterDomain', 'trustDomain'] as const)
    .filter((domain) => config[domain] !== outlook.names[domain])
    .map((domain) => {
      const reason = `has ${flagOf(domain)} "${config[domain]}", and Linkerd has "${outlook.names[domain]}": clients are refused`;
      return error(object, reason, `set it to ${outlook.names[domain]}`);
    });
};

const policyFindings = (facts: AccessFacts): readonly Finding[] => {
  const { authorizations, namespace } = facts;
  if (!authorizations.ok) return [];
  return authorizations.value.filter(isForeign).map(({ metadata }) => {
    const reason = 'authorizes clients for the whole gateway, and stays: it counts beside what exports name';
    const label = `${Label.gatewayAccess}=open`;
    const command = byKubectl(facts, '-n', namespace, 'label', 'authorizationpolicy', metadata.name, label);
    const isGateways = metadata.name === Default.gatewayName;
    const remedy = isGateways
      ? `hand it to the operator, which deletes it when it may: ${command}`
      : 'see who needs it';
    return warning(`AuthorizationPolicy ${namespace}/${metadata.name}`, reason, remedy);
  });
};

const networkFindings = ({ networks, namespace }: AccessFacts): readonly Finding[] => {
  if (!networks.ok || sourceNetworks(networks.value).named !== undefined) return [];
  const reason = 'is missing or names no networks: the operator closes nothing';
  const remedy = "apply the GatewayPolicy, or Linkerd's chart, again";
  return [error(`NetworkAuthentication ${namespace}/${PolicyApi.sourceCluster}`, reason, remedy)];
};

const gatewayFindings = (facts: AccessFacts): readonly Finding[] => {
  const { gateway, namespace } = facts;
  if (!gateway.ok || gateway.value !== undefined) return [];
  const reason = 'not found: no policy can protect the gateway';
  const remedy = `install the gateway with its policy, or name its namespace with --namespace: ${byKubectl(facts, 'get', 'servers.policy.linkerd.io', '--all-namespaces', '-l', `${Label.app}=${GATEWAY_LABELS[Label.app]}`)}`;
  return [error(`Server ${namespace}/${Default.gatewayName}`, reason, remedy)];
};

/** Unless something that it needs could not be read. */
const unless = (what: string, isRead: boolean, findings: () => readonly Finding[]): Judgement =>
  isRead ? judged(findings()) : skipped(`${what} cannot be read`);

export const ACCESS_CHECKS: readonly Check<AccessFacts>[] = [
  {
    id: 'access-api',
    category: CATEGORY,
    title: 'the Kubernetes API can be queried',
    means: 'The API server of the cluster that exports does not answer, or refuses the credentials of the kubeconfig.',
    remedy: 'Check the context, and log in again.',
    judge: ({ kubernetes, context, server }) =>
      judged(kubernetes.ok ? [] : [error(context, kubernetes.why, `check that ${server} is up, and log in again`)]),
  },
  {
    id: 'access-reads',
    category: CATEGORY,
    title: 'everything that is checked can be read',
    means: 'Some objects cannot be read with these credentials. What needs them is not judged.',
    remedy: 'Use a context with the right that is named.',
    judge: ({ unread, context, kubernetes }) =>
      kubernetes.ok
        ? judged(unread.map(({ what, why }) => error(context, `cannot ${what}: ${why}`, 'use a context that may')))
        : skipped('the API server cannot be reached'),
  },
  {
    id: 'access-gateway',
    category: CATEGORY,
    title: 'the gateway has a policy',
    means: "The gateway's Server is missing. Without it, every policy of an export is for nothing.",
    remedy: "Install the gateway with its policy: `GatewayPolicy`, or Linkerd's chart.",
    judge: (facts) => unless('Servers', facts.gateway.ok, () => gatewayFindings(facts)),
  },
  {
    id: 'access-networks',
    category: CATEGORY,
    title: 'the networks that clients connect from are known',
    means: `NetworkAuthentication \`${PolicyApi.sourceCluster}\` is missing or names no networks. The operator closes nothing then.`,
    remedy: "Apply the `GatewayPolicy`, or Linkerd's chart, again.",
    judge: (facts) => unless('NetworkAuthentications', facts.networks.ok, () => networkFindings(facts)),
  },
  {
    id: 'access-operator',
    category: CATEGORY,
    title: 'an operator can write the policy',
    means:
      'No operator runs in the cluster that exports, or its settings do not go with `gatewayAccess`: nothing is closed, or clients are refused.',
    remedy: 'Install it, or change the setting that is named.',
    judge: (facts) => unless('Deployments', facts.operator.ok, () => operatorFindings(facts)),
  },
  {
    id: 'access-policies',
    category: CATEGORY,
    title: 'no policy of others admits to the whole gateway',
    means:
      'An AuthorizationPolicy that is not ours authorizes clients for every Service behind the gateway. The operator leaves it, and it counts beside what exports name.',
    remedy: `Delete it, or hand it over with the label \`${Label.gatewayAccess}: open\` if it is the one of Linkerd's chart.`,
    judge: (facts) => unless('AuthorizationPolicies', facts.authorizations.ok, () => policyFindings(facts)),
  },
  {
    id: 'access-usage',
    category: CATEGORY,
    title: 'it is known who uses the gateway',
    means:
      "The metrics of a proxy of the gateway cannot be read, or say nothing of what clients have asked for. By the gateway's policy, nobody reads them but Prometheus, and who forwards a port to the pod.",
    remedy:
      'Get them with `linkerd diagnostics proxy-metrics -n linkerd-multicluster deploy/linkerd-gateway > gateway.metrics`, and name the file with `--gateway-metrics`.',
    judge: usageFindings,
  },
  ...USE_CHECKS,
];
