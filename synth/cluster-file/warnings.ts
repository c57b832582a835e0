/** What a cluster file may say, but most likely should not: told on standard error, and no reason to write nothing. */
import type { ClusterSet, ClusterSetProps } from '../../constructs/index.ts';

/** Warnings about a valid cluster file, each with its path. */
export const clusterFileWarnings = ({ members }: ClusterSetProps, { pairs }: ClusterSet): readonly string[] => [
  ...(members.length === 1 ? ['members: there is one cluster, and nothing to link it with'] : []),
  ...members.flatMap(({ name, gatewayAddresses }, index) => {
    const sources = pairs.filter(({ target }) => target === name).map(({ source }) => source);
    const open = members.filter(({ name, networks }) => sources.includes(name) && networks === undefined);
    if (gatewayAddresses === undefined || open.length === 0) return [];
    const whose = open.map((member) => member.name).join(', ');
    return `members[${index}]: the gateway of ${name} lets in all networks, since it is not known where ${whose} comes from (write networks of ${whose})`;
  }),
];
