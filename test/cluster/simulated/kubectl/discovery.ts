/** Discovery: the documents under `/version`, `/api` and `/apis` from which clients learn what a server serves. */
import { groupVersion, type Resource } from '../kinds/resources.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

const VERSION = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3-simulated',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch}`,
};

const distinct = <T>(items: readonly T[]): readonly T[] => [...new Set(items)];

function groupOf(group: string, resources: readonly Resource[]): object {
  const versions = distinct(
    resources.filter((resource) => resource.group === group).flatMap((resource) => resource.versions),
  ).map((version) => ({ groupVersion: groupVersion(group, version), version }));
  return { name: group, versions, preferredVersion: versions[0] };
}

function resourcesOf(group: string, version: string, resources: readonly Resource[]): object | undefined {
  const served = resources.filter((resource) => resource.group === group && resource.versions.includes(version));
  if (served.length === 0) return undefined;
  const entries = served.flatMap(({ plural, singular, namespaced, kind, shortNames, categories, subresources }) => [
    {
      ...{ name: plural, singularName: singular, namespaced, kind, verbs: VERBS },
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
    },
    ...subresources.map((subresource) => ({
      name: `${plural}/${subresource}`,
      singularName: '',
      namespaced,
      ...(subresource === 'scale' ? { group: 'autoscaling', version: 'v1', kind: 'Scale' } : { kind }),
      verbs: ['get', 'patch', 'update'],
    })),
  ]);
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: groupVersion(group, version), resources: entries };
}

const SELF_REVIEW = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: 'authorization.k8s.io/v1',
  resources: [
    {
      name: 'selfsubjectaccessreviews',
      singularName: '',
      namespaced: false,
      kind: 'SelfSubjectAccessReview',
      verbs: ['create'],
    },
  ],
};

/**
 * OpenAPI, as little of it as makes kubectl leave the validation of manifests to the server: each kind's PATCH takes
 * the parameter `fieldValidation`.
 */
function openApi(parts: readonly string[], resources: readonly Resource[]): object | undefined {
  const served = resources.flatMap((resource) => resource.versions.map((version) => ({ resource, version })));
  const pathOf = ({ group }: Resource, version: string): string =>
    group === '' ? `api/${version}` : `apis/${group}/${version}`;
  const info = { title: 'Kubernetes', version: VERSION.gitVersion };
  if (parts.length === 0) {
    const paths = distinct(served.map(({ resource, version }) => pathOf(resource, version)));
    return { paths: Object.fromEntries(paths.map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}` }])) };
  }
  const here = served.filter(({ resource, version }) => pathOf(resource, version) === parts.join('/'));
  if (here.length === 0) return undefined;
  const operations = here.map(({ resource: { group, kind, plural }, version }) => [
    `/${parts.join('/')}/${plural}/{name}`,
    {
      patch: {
        parameters: [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }],
        responses: {},
        'x-kubernetes-group-version-kind': { group, version, kind },
      },
    },
  ]) as readonly (readonly [string, object])[];
  return { openapi: '3.0.0', info, paths: Object.fromEntries(operations) };
}

/**
 * The document at a path.
 * @returns undefined if there is none
 */
export function discover(path: string, resources: readonly Resource[]): object | string | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  const groups = distinct(resources.map(({ group }) => group)).filter((group) => group !== '');
  const review = {
    name: 'authorization.k8s.io',
    versions: [{ groupVersion: 'authorization.k8s.io/v1', version: 'v1' }],
  };
  switch (parts.join('/')) {
    case 'healthz':
    case 'livez':
    case 'readyz':
      return 'ok';
    case 'version':
      return VERSION;
    case 'api':
      return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
    case 'apis':
      return {
        kind: 'APIGroupList',
        apiVersion: 'v1',
        groups: [
          ...groups.map((group) => groupOf(group, resources)),
          { ...review, preferredVersion: review.versions[0] },
        ],
      };
    case 'apis/authorization.k8s.io/v1':
      return SELF_REVIEW;
    default:
      break;
  }
  const [root, first = '', second] = parts;
  if (root === 'openapi' && first === 'v3') return openApi(parts.slice(2), resources);
  if (root === 'api' && parts.length === 2) return resourcesOf('', first, resources);
  if (root !== 'apis') return undefined;
  if (parts.length === 2 && groups.includes(first))
    return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(first, resources) };
  return parts.length === 3 ? resourcesOf(first, second!, resources) : undefined;
}
