/** The Links of a source cluster, and the obstacles to reading them. */
import { LinkApi } from '../../../crds/wire.ts';
import type { Cluster } from './cluster.ts';
import { CommandError } from './command-error.ts';
import { LINKS } from './kinds.ts';
import type { LinkObject } from './link-object.ts';
import { byInstall } from './remedies.ts';

/**
 * The Links of a namespace, by name; of one name only, if it is given.
 * @throws CommandError if Links cannot be there, or if there is none of that name
 */
export const linksOf = async (source: Cluster, namespace: string, name?: string): Promise<readonly LinkObject[]> => {
  const links = await source.list<LinkObject>(LINKS, { namespace });
  const { kubeconfig, context } = source;
  if (links.length === 0 && !(await source.serves(LINKS))) {
    throw new CommandError([
      {
        object: source.title('CustomResourceDefinition', { name: LinkApi.crd }),
        reason: 'not found: the cluster has no Links',
        remedy: `name the source cluster with --context, or make this one ready: ${byInstall({ kubeconfig, context, namespace })}`,
      },
    ]);
  }
  const found = links.filter(({ metadata }) => name === undefined || metadata.name === name);
  if (name !== undefined && found.length === 0) {
    const others = links.map(({ metadata }) => metadata.name).join(', ');
    throw new CommandError([
      {
        object: source.title(LINKS.kind, { namespace, name }),
        reason: others === '' ? 'not found: there is none' : `not found: there is ${others}`,
        remedy: 'name a Link, and its namespace with --namespace',
      },
    ]);
  }
  return found.toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
};
