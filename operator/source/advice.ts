/** What is logged about a source cluster that cannot be read: it is retried for ever, and most causes can be mended. */
import { LinkApi } from '../../crds/wire.ts';
import { describe, isForbidden, isNamespaceGone, isNotFound, isUnauthorized } from '../kube/errors.ts';
import { unreadableNamespace } from '../mirror/reasons.ts';
import { ReadHealth } from '../runtime/health.ts';
import type { Logger } from '../runtime/logger.ts';

/**
 * What keeps a resource of the source cluster from being read, and what the user can do about it.
 * @param what plural of the resource that cannot be listed or watched
 * @param namespace of the operator
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

/** What the user can do about a Lease that cannot be written, as text that follows the error; may be empty. */
export function leaseRemedy(error: unknown, namespace: string): string {
  if (isNamespaceGone(error)) return `. Create namespace ${namespace}, or set --namespace`;
  if (isForbidden(error)) return '. Apply the roles that the operator is deployed with';
  if (isUnauthorized(error)) return '. Check the token or certificate of the kubeconfig';
  return '';
}

/** Why a resource of the source cluster cannot be read. */
export interface SourceProblem {
  readonly message: string;
  /** Whether the API server has answered that it may not be read, or is not there: only somebody else can mend that. */
  readonly isRefused: boolean;
}

/** What cannot be read of the source cluster and why, by plural of the resource. */
export class SourceProblems extends Map<string, SourceProblem> {
  /** Called when everything can be read again. */
  onOver: () => void = () => undefined;
  /** Called when {@link refusal} may have changed. */
  onChange: () => void = () => undefined;

  /** What may not be read, in one text; undefined if all may. */
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
 * Logs when a resource of the source cluster cannot be read, and when it can again. A namespace that refuses to be read
 * is the business of {@link logNamespaceAccess}.
 * @param problems where the resource is entered while it cannot be read
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
 * Logs that one of several namespaces may not be read, or may again.
 * @param error undefined if it may
 * @param operatorNamespace the namespace without which nothing works
 */
export function logNamespaceAccess(name: string, error: unknown, operatorNamespace: string, log: Logger): void {
  if (error === undefined) {
    log.info({ namespace: name }, 'the namespace can be read');
    return;
  }
  const problem = name === operatorNamespace ? sourceProblem('mirrors', error, name) : unreadableNamespace(name);
  log.error({ namespace: name, error: describe(error) }, problem);
}
