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

/** Kinds of subresources that are not those of the resource. */
const KIND_OF_SUBRESOURCE: Readonly<Record<string, object>> = {
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
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
      ...(KIND_OF_SUBRESOURCE[subresource] ?? { kind }),
      verbs: subresource === 'token' ? ['create'] : ['get', 'patch', 'update'],
    })),
  ]);
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: groupVersion(group, version), resources: entries };
}

/** What is answered and not kept, by group. */
const REVIEWS: Readonly<Record<string, readonly (readonly [plural: string, kind: string])[]>> = {
  'authorization.k8s.io': [['selfsubjectaccessreviews', 'SelfSubjectAccessReview']],
  'authentication.k8s.io': [
    ['selfsubjectreviews', 'SelfSubjectReview'],
    ['tokenreviews', 'TokenReview'],
  ],
};

const reviewGroup = (name: string): object => {
  const version = { groupVersion: `${name}/v1`, version: 'v1' };
  return { name, versions: [version], preferredVersion: version };
};

const reviewsOf = (group: string): object => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${group}/v1`,
  resources: (REVIEWS[group] ?? []).map(([name, kind]) => ({
    ...{ name, singularName: '', namespaced: false, kind },
    verbs: ['create'],
  })),
});

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
        groups: [...groups.map((group) => groupOf(group, resources)), ...Object.keys(REVIEWS).map(reviewGroup)],
      };
    default:
      break;
  }
  const [root, first = '', second] = parts;
  if (root === 'openapi' && first === 'v3') return openApi(parts.slice(2), resources);
  if (root === 'api' && parts.length === 2) return resourcesOf('', first, resources);
  if (root !== 'apis') return undefined;
  if (parts.length === 3 && second === 'v1' && first in REVIEWS) return reviewsOf(first);
  if (parts.length === 2 && groups.includes(first))
    return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(first, resources) };
  return parts.length === 3 ? resourcesOf(first, second!, resources) : undefined;
}
