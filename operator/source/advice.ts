/** What a user can do about a source cluster that cannot be read: it is tried for ever, and most of this can be mended. */
import { LinkApi } from '../../crds/wire.ts';
import { isForbidden, isNotFound, isUnauthorized } from '../kube/errors.ts';

/** @param what plural of the resource that cannot be listed or watched */
export function sourceProblem(what: string, error: unknown, namespace: string): string {
  if (what === LinkApi.plural && isNotFound(error)) {
    return 'the Link CRD is not installed: run `linkspan crds | kubectl apply --server-side -f -`';
  }
  if (isForbidden(error)) {
    return `the operator has no right to list and watch ${what}: apply the roles that it is deployed with`;
  }
  if (isUnauthorized(error)) {
    return 'the source cluster does not know the operator: check the token or certificate of its kubeconfig';
  }
  return `${what} cannot be read in the source cluster (namespace ${namespace}); trying again`;
}
