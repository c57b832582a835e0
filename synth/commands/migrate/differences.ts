/** How the operator, as it is installed, mirrors otherwise than Linkerd's controllers do, and what makes them the same. Pure. */
import { flagOf } from '../../../crds/operator-setting-names.ts';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import { kubectl, linkspan, type NamedCluster, shellWord } from '../common/command-text.ts';
import type { LinkObject } from '../common/link-object.ts';
import { grantNamespaces } from '../common/remedies.ts';
import type { LinkerdSettings } from './linkerd-settings.ts';

/** Switches, what they do, and the value of Linkerd's chart that sets them. */
const SWITCHES = [
  ['enableHeadlessServices', 'headless Services pod by pod', 'controllerDefaults.enableHeadlessServices'],
  ['enableNamespaceCreation', 'Services of namespaces that it creates for them', 'enableNamespaceCreation'],
] as const;

/** Where a note is about. */
export interface Noted {
  readonly cluster: NamedCluster;
  readonly namespace: string;
}

/** Differences for one Link. */
export const linkDifferences = (
  { metadata: { name }, spec }: LinkObject,
  linkerd: LinkerdSettings,
  config: OperatorConfig,
  { cluster, namespace }: Noted,
): readonly string[] =>
  SWITCHES.flatMap(([field, what, value]) => {
    const wanted = linkerd[field];
    if (wanted === undefined || (spec?.[field] ?? config[field]) === wanted) return [];
    const patch = JSON.stringify({ spec: { [field]: wanted } });
    const set = kubectl(
      cluster,
      'patch',
      `link/${name}`,
      `--namespace=${namespace}`,
      '--type=merge',
      `--patch=${patch}`,
    );
    const grant = `, with the right to do so, ${grantNamespaces({ ...cluster, namespace })}`;
    const granted = field === 'enableNamespaceCreation' && wanted ? grant : '';
    const [one, other] = wanted ? ["Linkerd's controller", 'the operator'] : ['the operator', "Linkerd's controller"];
    return [
      `Link ${name}: ${one} mirrors ${what}, and ${other} does not: set it for the Link, \`${set}\`${granted}, or for the operator, ` +
        `${flagOf(field)}: ${value}: ${String(wanted)} in the values file of \`${upgrade(cluster, namespace)}\``,
    ];
  });

/** Differences for local members of federated Services. */
export const localDifferences = (
  { federatedSelector: wanted }: LinkerdSettings,
  { federatedSelector }: OperatorConfig,
  { cluster, namespace }: Noted,
): readonly string[] =>
  wanted === undefined || wanted === federatedSelector || federatedSelector === ''
    ? []
    : [
        `Linkerd's local mirror federates Services by ${JSON.stringify(wanted)}, and the operator by ` +
          `${JSON.stringify(federatedSelector)}: set ${flagOf('federatedSelector')}: ` +
          `localServiceMirror.federatedServiceSelector in the values file of \`${upgrade(cluster, namespace)}\``,
      ];

const upgrade = (cluster: NamedCluster, namespace: string): string =>
  linkspan(cluster, 'upgrade', `--namespace=${namespace}`, '--values=values.yaml', '--apply');

/** What was planned without an operator, and how one is installed that does the same. */
export const withoutOperator = (
  settings: LinkerdSettings,
  release: string | undefined,
  { cluster, namespace }: Noted,
): string => {
  const flags = [
    ...SWITCHES.flatMap(([field]) => (settings[field] === true ? [flagOf(field)] : [])),
    ...(settings.federatedSelector === undefined
      ? []
      : [`${flagOf('federatedSelector')}=${settings.federatedSelector}`]),
  ];
  const isKnown = Object.values(settings).some((value) => value !== undefined);
  const planned = isKnown
    ? `planned with the settings of Linkerd's controllers${flags.length === 0 ? '' : `, which are ${flags.join(' ')} of the operator`}`
    : 'planned with its default settings';
  const { kubeconfig, context } = cluster;
  const at = ['--kube-context', context, ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig])];
  const helm = ['helm', 'get', 'values', release ?? '', '--output', 'yaml', '--namespace', namespace, ...at]
    .map(shellWord)
    .join(' ');
  const values =
    release === undefined ? '' : `; \`${helm}\` prints the values that linkspan install takes with --values`;
  return `no operator is installed in ${context}: ${planned}${values}`;
};
