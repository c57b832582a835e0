/**
 * Endpoints in Git do not reach a cluster: Argo CD excludes them by default, reports the Application as Synced, and the
 * Service has no endpoints. So synthesis refuses them, unless a static mirror is asked for. Endpoints rendered in memory
 * are applied directly and never are in Git.
 */
import type { ApiObject, App } from 'cdk8s';
import { type FieldError, fieldError } from '../../../crds/field-error.ts';

/** Whether a construct with endpoints may be in Git. */
export interface StaticEndpointsProps {
  /**
   * Whether the endpoints may be synthesized, and so be in Git: a static mirror, for a cluster that must not run the
   * operator. It stays as it was rendered: it follows neither the health of the target's gateway nor the pods behind the
   * target Service, and sends requests to a gateway that is dead.
   *
   * `kubectl apply` and Flux apply such endpoints. Argo CD does not, as installed since 3.0: `resource.exclusions` in its
   * ConfigMap `argocd-cm` names the kinds Endpoints and EndpointSlice (groups "" and discovery.k8s.io). Take the kind that
   * is rendered out of that entry; from then on Argo CD watches all objects of that kind, in every cluster that it serves.
   * @default - false: to synthesize endpoints is an error
   */
  readonly static?: boolean | undefined;
}

/** Set in the context of an app that is rendered in memory. */
const IN_MEMORY = 'linkspan:in-memory';

/** Marks an app without charts as rendered in memory, not for Git. */
export const renderInMemory = (app: App): void => app.node.setContext(IN_MEMORY, true);

/** Fails the synthesis of endpoints, unless they are static or rendered in memory. */
export const keepOutOfGit = (endpoints: ApiObject, { static: isStatic = false }: StaticEndpointsProps): void => {
  if (isStatic || endpoints.node.tryGetContext(IN_MEMORY) === true) return;
  const { kind, name, metadata } = endpoints;
  endpoints.node.addValidation({
    validate: () => [
      `${kind} ${metadata.namespace ?? ''}/${name} must not be in Git: Argo CD leaves ${kind} out and says Synced all ` +
        'the same, and the Service would have nothing behind it (render a Link instead, and let the operator write the ' +
        'mirror; where no operator may run, set static: true, and read there what Argo CD must be told)',
    ],
  });
};

/** The error of `static` without endpoints. */
export const staticError = (
  { static: isStatic = false }: StaticEndpointsProps,
  endpoints: unknown,
): FieldError | undefined =>
  isStatic && endpoints === undefined
    ? fieldError('static', true, 'must not be set without endpoints', 'give endpoints, or remove it')
    : undefined;
