/** A cluster file of any size, with every field that a member can have, for tests and measurements of synth. */
import { Yaml } from 'cdk8s';
import type { ClusterSetProps } from '../../constructs/index.ts';
import { CERTIFICATE } from '../cluster/certificate.ts';

/** What an editor reads in the first line of a cluster file. */
const HINT = '# yaml-language-server: $schema=./linkspan.schema.json\n';

/** A full mesh of clusters `c01`, `c02`, … with credentials as external-secrets fills them. */
export const clusterSetProps = (clusters: number): ClusterSetProps => ({
  members: Array.from({ length: clusters }, (_, index) => ({
    name: `c${String(index + 1).padStart(2, '0')}`,
    clusterDomain: `c${index + 1}.example.com`,
    gatewayAddresses: [`gateway.c${index + 1}.example.com`],
    apiServer: {
      url: `https://api.c${index + 1}.example.com:6443`,
      caData: Buffer.from(CERTIFICATE).toString('base64'),
    },
    networks: [`10.${index}.0.0/16`],
  })),
  operator: { image: 'registry.example.com/linkspan:1' },
  credentials: { type: 'external-secret', store: { name: 'vault' } },
});

/** The same, where the last of the clusters has no Links any more, and keeps its operator; others still use it. It is to leave the set next. */
export const leavingProps = (clusters: number): ClusterSetProps => {
  const { members, ...props } = clusterSetProps(clusters);
  const stay = members.slice(0, -1).map(({ name }) => name);
  const pairs = stay.flatMap((source) =>
    members.filter(({ name }) => name !== source).map(({ name }) => ({ source, target: name })),
  );
  return {
    ...props,
    members: members.map((member, index) => (index === stay.length ? { ...member, operator: true } : member)),
    topology: { type: 'pairs', pairs },
  };
};

/** The props as a cluster file. */
export const clusterFile = (props: ClusterSetProps): string => HINT + Yaml.stringify(props);
