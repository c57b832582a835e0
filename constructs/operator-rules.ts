/**
 * The rights of the operator in its own cluster, each for a request that it makes (rule H6): nothing is there for
 * convenience. Mirrors are written by server-side apply, which takes `patch`, and `create` for what is not there yet;
 * `get` looks at what stands in the way of one.
 */
import { LinkApi } from '../crds/wire.ts';
import type { EndpointsKind } from './endpoints-object.ts';
import type { PolicyRule } from './grant.ts';

const READ = ['list', 'watch'] as const;
const WRITE = ['get', 'create', 'patch', 'delete'] as const;

/** In the whole cluster: the mirrors of all Links, by label, and the namespaces they may live in. */
export const readRules: readonly PolicyRule[] = [
  { group: '', resources: ['services', 'endpoints', 'namespaces'], verbs: READ },
  { group: 'discovery.k8s.io', resources: ['endpointslices'], verbs: READ },
];

/**
 * Wherever mirrors may be: the Services and their endpoints, and the removal of endpoints of the other kind. Endpoints
 * are looked at in any case, as a Service that is made over somebody else's would have the API server delete them.
 */
export const mirrorRules = (endpoints: EndpointsKind): readonly PolicyRule[] => [
  { group: '', resources: ['services'], verbs: WRITE },
  { group: '', resources: ['endpoints'], verbs: endpoints === 'endpoints' ? WRITE : ['get', 'delete'] },
  { group: 'discovery.k8s.io', resources: ['endpointslices'], verbs: endpoints === 'slices' ? WRITE : ['delete'] },
];

/** In the whole cluster, where namespaces are made for mirrors. */
export const namespaceRules: readonly PolicyRule[] = [
  { group: '', resources: ['namespaces'], verbs: ['get', 'create', 'patch'] },
];

/** In the operator's namespace: Links and their status, credentials, Leases and Events. */
export const ownRules: readonly PolicyRule[] = [
  { group: LinkApi.group, resources: [LinkApi.plural], verbs: READ },
  { group: LinkApi.group, resources: [`${LinkApi.plural}/status`], verbs: ['patch'] },
  { group: '', resources: ['secrets'], verbs: READ },
  { group: '', resources: ['events'], verbs: ['get', 'create', 'patch'] },
  // Listed for what Links left that were deleted while no operator ran.
  { group: 'coordination.k8s.io', resources: ['leases'], verbs: ['get', 'list', 'create', 'update', 'delete'] },
];
