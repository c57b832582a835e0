/** Warnings about valid cluster files that most likely contain a mistake. They go to standard error. */
import type { ClusterSet, ClusterSetProps } from '../../constructs/index.ts';

/** Warnings about a valid cluster file, each with its path. */
export const clusterFileWarnings = ({ members }: ClusterSetProps, { pairs }: ClusterSet): readonly string[] => [
  ...(members.length === 1 ? ['members: a single cluster has nothing to link with'] : []),
  ...members.flatMap(({ name, gatewayAddresses }, index) => {
    const sources = pairs.filter(({ target }) => target === name).map(({ source }) => source);
    const open = members.filter(({ name, networks }) => sources.includes(name) && networks === undefined);
    if (gatewayAddresses === undefined || open.length === 0) return [];
    const whose = open.map((member) => member.name).join(', ');
    return `members[${index}]: the gateway of ${name} is open to all networks, because the networks of ${whose} are not known (write networks of ${whose})`;
  }),
];
