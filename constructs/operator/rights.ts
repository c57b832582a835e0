/**
 * The rights of the operator in its own cluster, each for a request that it makes (rule H6): none is there for
 * convenience. Mirrors are written by server-side apply, which takes `patch`, and `create` for what is not there yet;
 * `get` looks at what stands in the way of one.
 */
import { LinkApi } from '../../crds/wire.ts';
import type { PolicyRule } from '../common/grant.ts';
import type { EndpointsKind } from '../mirror/index.ts';

const READ = ['list', 'watch'] as const;
const WRITE = ['get', 'create', 'patch', 'delete'] as const;
const SLICES = { group: 'discovery.k8s.io', resources: ['endpointslices'] } as const;

/** Where mirrors may be: read the mirrors of all Links, by label. */
export const readRules: readonly PolicyRule[] = [
  {
    group: '',
    resources: ['services', 'endpoints'],
    verbs: READ,
    why: 'sees its mirrors and their endpoints, by label, and puts right what others change in them',
  },
  { ...SLICES, verbs: READ, why: 'sees the slices that it has written, by label' },
];

/** In the whole cluster alone, since no Role grants it: where an operator is limited to namespaces, it knows them by name. */
export const watchNamespacesRules: readonly PolicyRule[] = [
  {
    group: '',
    resources: ['namespaces'],
    verbs: READ,
    why: 'knows which namespaces there are, and mirrors into a new one as soon as it is made',
  },
];

/**
 * Wherever mirrors may be: the Services and their endpoints, and the removal of endpoints of the other kind. Endpoints
 * are looked at in any case, as a Service that is made over somebody else's would have the API server delete them.
 */
export const mirrorRules = (endpoints: EndpointsKind): readonly PolicyRule[] => [
  {
    group: '',
    resources: ['services'],
    verbs: WRITE,
    why: 'makes, changes and removes mirrors and the probe Service; `get` tells a mirror from a Service of somebody else that has its name',
  },
  endpoints === 'endpoints'
    ? {
        group: '',
        resources: ['endpoints'],
        verbs: WRITE,
        why: 'says where mirrors lead; `get` finds those of somebody else, which are left alone',
      }
    : {
        group: '',
        resources: ['endpoints'],
        verbs: ['get', 'delete'],
        why: 'finds those of somebody else, which are left alone; removes those that it wrote before it wrote slices',
      },
  endpoints === 'slices'
    ? {
        ...SLICES,
        verbs: WRITE,
        why: 'says where mirrors lead; `get` finds those of somebody else, which are left alone',
      }
    : { ...SLICES, verbs: ['delete'], why: 'removes those that it wrote before it wrote Endpoints' },
];

/** In the whole cluster, where namespaces are made for mirrors. */
export const namespaceRules: readonly PolicyRule[] = [
  {
    group: '',
    resources: ['namespaces'],
    verbs: ['get', 'create', 'patch'],
    why: 'makes namespaces that mirrors need; `get` looks at one that is being deleted',
  },
];

/**
 * In the operator's namespace: Links and their status, credentials, Leases and Events.
 * @param secrets names of the Secrets that Links have their credentials in; undefined for all of the namespace
 */
export const ownRules = (secrets: readonly string[] | undefined): readonly PolicyRule[] => [
  { group: LinkApi.group, resources: [LinkApi.plural], verbs: READ, why: 'knows what to mirror' },
  {
    group: LinkApi.group,
    resources: [`${LinkApi.plural}/status`],
    verbs: ['patch'],
    why: 'says how each Link is doing',
  },
  {
    group: '',
    resources: ['secrets'],
    resourceNames: secrets,
    verbs: READ,
    why: 'has the credentials of targets, and takes up new ones',
  },
  {
    group: '',
    resources: ['events'],
    verbs: ['get', 'create', 'patch'],
    why: 'reports on Links; the same again is counted in the Event that is there',
  },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'list', 'create', 'update', 'delete'],
    why: 'is the only one that writes, as a whole and for each Link; listed for what Links left that were deleted while no operator ran',
  },
];
