/** What the user of a command must be allowed for it. */
import { readRequest } from '../../cluster/simulated/request.ts';

/** As in `west: get secrets`, or `west: list secrets of all namespaces`, which a Role does not grant. */
export type Right = string;

/** What everybody may who is known: system:basic-user, and what asks about oneself. */
const OF_EVERYBODY = /^selfsubject/;
/** These have no namespace. */
const OF_CLUSTERS = /^(namespaces|nodes|clusterroles|clusterrolebindings|customresourcedefinitions|tokenreviews)$/;

/** The rights of which a request needs each. */
export const rightsOf = (cluster: string, method: string, url: string): readonly Right[] => {
  const { verb, resource, subresource, namespace } = readRequest(method, url, '', '');
  if (resource === '' || OF_EVERYBODY.test(resource)) return [];
  const right = `${cluster}: ${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
  return namespace === undefined && !OF_CLUSTERS.test(resource) ? [right, `${right} of all namespaces`] : [right];
};
