/** The text of a cluster file, with a comment where the user must decide. Pure. */
import { Default } from '../../../crds/wire.ts';
import { parseYaml } from '../../../operator/kube/access/yaml.ts';
import { Yaml } from 'cdk8s';
import { comment } from '../common/output.ts';
import type { Composition, Member } from './composition.ts';

/** What is the same in all clusters. */
export interface FileOptions {
  readonly namespace: string;
  readonly linkerdNamespace: string;
  readonly image: string | undefined;
  /** The image that stands for the user's. */
  readonly exampleImage: string;
}

/** A cluster file, and what in it the user must decide. */
export interface ClusterFileText {
  readonly text: string;
  /** Each with its path. */
  readonly decisions: readonly string[];
}

/** What a comment says where a value is made up. */
const DECIDE = 'DECIDE:';

/** Writes a cluster file: of what runs, else one in which every two clusters are linked. */
export const clusterFileText = (composed: Composition, options: FileOptions): ClusterFileText => {
  const { members, pairs, links, set, operator = {}, comments } = composed;
  const { namespace, linkerdNamespace, exampleImage } = options;
  const { image: running, ...settings } = operator;
  const image = options.image ?? (typeof running === 'string' ? running : undefined);
  const decisions: string[] = [];
  const decide = (path: string, what: string): string => {
    decisions.push(`${path}: ${what}`);
    return comment(`${DECIDE} ${what}`);
  };
  const lines = [
    '# yaml-language-server: $schema=./node_modules/linkspan/dist/cluster-set.schema.json',
    "# Clusters that use each other's Services. `linkspan synth` renders them; docs/cluster-file.md has every field.",
    ...comments.map(comment),
    'members:',
    ...members.flatMap((member, index) => memberLines(member, `members[${index}]`, decide).map((line) => `  ${line}`)),
    '',
    ...(pairs === undefined
      ? [
          '# Every two clusters are linked, in both directions. Otherwise:',
          '# topology: { type: pairs, pairs: [{ source: east, target: west }] }',
        ]
      : yamlLines({ topology: { type: 'pairs', pairs } })),
    ...(links.length === 0 ? [] : yamlLines({ links })),
    ...yamlLines(set),
    '',
    'operator:',
    ...(image === undefined ? [`  ${decide('operator.image', 'an image that your clusters can pull')}`] : []),
    `  image: ${scalar(image ?? exampleImage)}`,
    ...yamlLines(settings).map((line) => `  ${line}`),
    ...(namespace === Default.multiclusterNamespace ? [] : ['', `namespace: ${scalar(namespace)}`]),
    ...(linkerdNamespace === Default.controlPlaneNamespace ? [] : [`linkerdNamespace: ${scalar(linkerdNamespace)}`]),
  ];
  return { text: `${lines.join('\n')}\n`, decisions };
};

/** Fields as lines of YAML, without aliases. */
const yamlLines = (fields: Readonly<Record<string, unknown>>): readonly string[] => {
  const given = JSON.parse(JSON.stringify(fields)) as object;
  return Object.keys(given).length === 0 ? [] : Yaml.stringify(given).trimEnd().split('\n');
};

const memberLines = (
  {
    context,
    name,
    server,
    apiServer,
    domains,
    gatewayAddresses,
    gateway,
    gatewayAccess,
    gatewayTcp,
    operator,
    silence,
  }: Member,
  path: string,
  decide: (path: string, what: string) => string,
): readonly string[] => {
  const lines = [
    comment(`Context ${context}, ${server}${silence === undefined ? '' : `; not asked: ${silence}`}`),
    `- name: ${scalar(name)}`,
  ];
  if (domains === undefined) {
    lines.push(`  ${decide(path, `clusterDomain and trustDomain, unless both are ${Default.clusterDomain}`)}`);
  } else {
    if (domains.clusterDomain !== Default.clusterDomain)
      lines.push(`  clusterDomain: ${scalar(domains.clusterDomain)}`);
    if (domains.trustDomain !== domains.clusterDomain) lines.push(`  trustDomain: ${scalar(domains.trustDomain)}`);
  }
  if (gatewayAddresses.length === 0) {
    lines.push(`  ${decide(`${path}.gatewayAddresses`, 'the addresses at which other clusters reach its gateway')}`);
  }
  const addresses = gatewayAddresses.length === 0 ? [`gateway.${name}.example.com`] : gatewayAddresses;
  lines.push(`  gatewayAddresses: [${addresses.map(scalar).join(', ')}]`);
  lines.push(...yamlLines({ gateway, gatewayAccess, gatewayTcp, operator }).map((line) => `  ${line}`));
  lines.push(
    `  # The networks that its requests come from, as in [198.51.100.0/26]; without them, gateways are open to all.`,
  );
  lines.push(`  # networks: []`);
  if ('problem' in apiServer) {
    lines.push(`  ${comment(`apiServer: only credentials need it; ${apiServer.problem}`)}`);
  } else {
    const { url, caData, tlsServerName } = apiServer;
    lines.push('  apiServer:', `    url: ${scalar(url)}`, `    caData: ${scalar(caData)}`);
    if (tlsServerName !== undefined) lines.push(`    tlsServerName: ${scalar(tlsServerName)}`);
  }
  return lines;
};

/** Text as YAML, in a list too: as it is, unless it would be read as something else. */
const scalar = (text: string): string => {
  try {
    const [read] = parseYaml(`[${text}]`) as readonly unknown[];
    return read === text ? text : JSON.stringify(text);
  } catch {
    return JSON.stringify(text);
  }
};
