/** An Application of Argo CD, as far as the suite reads it, and what its status says to somebody who looks for a reason. */
import type { KubeObject } from '../cluster/workload/index.ts';

export const ARGOCD_NAMESPACE = 'argocd';

/** All Applications. */
export const APPLICATION = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', namespace: ARGOCD_NAMESPACE };

/** What Argo CD says of one object. */
export interface ApplicationResource {
  readonly kind: string;
  readonly name: string;
  readonly status?: string;
  readonly health?: { readonly status: string; readonly message?: string };
}

/** An Application, as far as the suite reads it. */
export interface Application extends KubeObject {
  readonly spec: object;
  readonly status?: {
    readonly sync?: { readonly status: string; readonly revision?: string };
    readonly health?: { readonly status: string };
    readonly conditions?: readonly { readonly type: string; readonly message: string }[];
    readonly resources?: readonly ApplicationResource[];
    readonly operationState?: { readonly phase: string; readonly message?: string };
  };
}

/** What somebody who looks for the reason wants to read. */
export const described = (application: Application | undefined): string => {
  if (application === undefined) return 'there is no such Application';
  const { sync, health, conditions = [], operationState, resources = [] } = application.status ?? {};
  const unwell = resources.filter(
    (each) => each.status !== 'Synced' || (each.health !== undefined && each.health.status !== 'Healthy'),
  );
  return [
    `it is ${sync?.status ?? 'not compared yet'} at ${sync?.revision ?? 'no revision'}, ${health?.status ?? 'of no health'}`,
    ...conditions.map(({ type, message }) => `${type}: ${message}`),
    ...(operationState === undefined ? [] : [`operation ${operationState.phase}: ${operationState.message ?? ''}`]),
    ...unwell.map(
      ({ kind, name, status, health }) =>
        `${kind} ${name}: ${status ?? ''} ${health?.status ?? ''} ${health?.message ?? ''}`,
    ),
  ].join('\n  ');
};
