/**
 * Messages about a source cluster that cannot be read. Reading is retried without limit, and users can remove most
 * causes.
 */
import { LinkApi } from '../../crds/wire.ts';
import { describe, isForbidden, isNamespaceGone, isNotFound, isUnauthorized } from '../kube/errors.ts';
import { unreadableNamespace } from '../mirror/reasons.ts';
import { ReadHealth } from '../runtime/health.ts';
import type { Logger } from '../runtime/logger.ts';

/**
 * Returns why a resource of the source cluster cannot be read, and what the user can do about it.
 * @param what plural of the resource
 * @param namespace namespace of the operator
 */
export function sourceProblem(what: string, error: unknown, namespace: string): string {
  if (what === LinkApi.plural && isNotFound(error)) {
    return 'the Link CRD is not installed: run `linkspan crds | kubectl apply --server-side -f -`';
  }
  if (isForbidden(error)) {
    return `the operator has no right to list and watch ${what}: apply the roles that it is deployed with`;
  }
  if (isUnauthorized(error)) {
    return 'the source cluster does not accept the identity of the operator: check the token or certificate of its kubeconfig';
  }
  return `${what} cannot be read in the source cluster (namespace ${namespace}); trying again`;
}

/** Returns what the user can do about a Lease that cannot be written, as text to append to the error; may be empty. */
export function leaseRemedy(error: unknown, namespace: string): string {
  if (isNamespaceGone(error)) return `. Create namespace ${namespace}, or set --namespace`;
  if (isForbidden(error)) return '. Apply the roles that the operator is deployed with';
  if (isUnauthorized(error)) return '. Check the token or certificate of the kubeconfig';
  return '';
}

/** Why a resource of the source cluster cannot be read. */
export interface SourceProblem {
  readonly message: string;
  /**
   * Whether the API server has answered that the resource does not exist, or that the operator may not read it. Such a
   * problem lasts until somebody changes the cluster or the operator's rights.
   */
  readonly isRefused: boolean;
}

/**
 * Why resources of the source cluster cannot be read, by the plural of the resource, or by `secrets/<name>` for a
 * Secret that is watched by its name.
 */
export class SourceProblems extends Map<string, SourceProblem> {
  /** Called when everything can be read again. */
  onOver: () => void = () => undefined;
  /** Called when {@link refusal} may have changed. */
  onChange: () => void = () => undefined;

  /** Messages of all problems that are refusals, in one text; undefined if nothing is refused. */
  get refusal(): string | undefined {
    const refused = [...this.values()].filter(({ isRefused }) => isRefused);
    return refused.length === 0 ? undefined : refused.map(({ message }) => message).join('; ');
  }

  override set(what: string, problem: SourceProblem): this {
    super.set(what, problem);
    this.onChange();
    return this;
  }

  override delete(what: string): boolean {
    const wasThere = super.delete(what);
    if (wasThere) this.onChange();
    if (wasThere && this.size === 0) this.onOver();
    return wasThere;
  }
}

/**
 * Returns an object to which the reflectors of a resource of the source cluster report their state. It logs when the
 * resource cannot be read, and when it can be read again. If only some namespaces may not be read, {@link
 * logNamespaceAccess} logs that instead.
 * @param what plural of the resource
 * @param namespace namespace of the operator
 * @param problems has an entry for the resource while the resource cannot be read at all, or not in the operator's
 *   namespace
 */
export function sourceHealth(what: string, namespace: string, log: Logger, problems: SourceProblems): ReadHealth {
  let wasReadable = true;
  return new ReadHealth((obstacle) => {
    const isReadable = obstacle === undefined || obstacle.namespaces.length > 0;
    if (obstacle === undefined || (isReadable && !obstacle.namespaces.includes(namespace))) problems.delete(what);
    else {
      const { error } = obstacle;
      problems.set(what, {
        message: `${sourceProblem(what, error, namespace)} (${describe(error)})`,
        isRefused: isForbidden(error) || isUnauthorized(error) || isNotFound(error),
      });
    }
    if (!isReadable) {
      const { error } = obstacle;
      log.error({ resource: what, error: describe(error) }, sourceProblem(what, error, namespace));
    } else if (!wasReadable) log.info({ resource: what }, 'the source cluster can be read again');
    wasReadable = isReadable;
  });
}

/**
 * Logs that a namespace may not be read, or can be read again. Used if only some namespaces are read.
 * @param error why the namespace may not be read; undefined if it can be read
 * @param operatorNamespace the operator's own namespace, which must be readable
 */
export function logNamespaceAccess(name: string, error: unknown, operatorNamespace: string, log: Logger): void {
  if (error === undefined) {
    log.info({ namespace: name }, 'the namespace can be read');
    return;
  }
  const problem = name === operatorNamespace ? sourceProblem('mirrors', error, name) : unreadableNamespace(name);
  log.error({ namespace: name, error: describe(error) }, problem);
}
