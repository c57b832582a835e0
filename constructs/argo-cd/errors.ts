/**
 * Errors of the props of ArgoCd. Values that Argo CD reads as patterns must not contain any, so that the project permits
 * exactly these values.
 */
import { type FieldError, fieldError, fieldPath } from '../../crds/field-error.ts';
import { dnsLabel, dnsSubdomain } from '../common/prop-rules.ts';
import type { ArgoCdDestination, ArgoCdProps } from './props.ts';

/** The folder of Argo CD's own objects, beside those of the clusters. */
export const ARGO_CD_FOLDER = 'argocd';

/** Errors of the props, for clusters of these names. Names are reported as `clusterSet.members[…].name`. */
export const argoCdErrors = (
  props: Omit<ArgoCdProps, 'clusterSet'>,
  clusters: readonly string[],
): readonly (FieldError | undefined)[] => {
  const { repoUrl, revision, path, namespace, project, destinations = {} } = props;
  return [
    ...clusters.map((name, index) =>
      name === ARGO_CD_FOLDER
        ? fieldError(
            `clusterSet.members[${index}].name`,
            name,
            "must not be argocd, the folder of Argo CD's own objects",
            'rename it',
          )
        : undefined,
    ),
    repository('repoUrl', repoUrl),
    revision === ''
      ? fieldError('revision', revision, 'must not be empty', 'write a branch, a tag or a commit')
      : undefined,
    path === undefined ? undefined : folder('path', path),
    namespace === undefined ? undefined : dnsLabel('namespace', namespace),
    project === undefined ? undefined : dnsSubdomain('project', project),
    ...Object.entries(destinations).map(([cluster, destination]) =>
      destinationError(fieldPath('destinations', cluster), cluster, destination, clusters),
    ),
  ];
};

const PATTERN = /[*?![\]{}\\]/;

const repository = (path: string, url: string): FieldError | undefined => {
  if (url === '' || /\s/.test(url)) return fieldError(path, url, 'must be the URL of a repository');
  if (PATTERN.test(url)) return fieldError(path, url, 'must not be a pattern', 'name one repository');
  return URL.parse(url)?.password
    ? fieldError(path, undefined, 'must not contain a password', 'register the repository with Argo CD')
    : undefined;
};

const folder = (path: string, value: string): FieldError | undefined =>
  value === '' || value.split('/').every((step) => /^[^\\\s]+$/.test(step) && step !== '.' && step !== '..')
    ? undefined
    : fieldError(path, value, 'must be a folder of the repository', 'as in deploy/clusters, or empty for its root');

const destinationError = (
  path: string,
  cluster: string,
  { name, server }: ArgoCdDestination,
  clusters: readonly string[],
): FieldError | undefined => {
  if (!clusters.includes(cluster)) {
    return fieldError(path, cluster, 'must be the name of a member', `one of ${clusters.join(', ')}`);
  }
  if ((name === undefined) === (server === undefined)) {
    return fieldError(path, { name, server }, 'must have exactly one of name and server');
  }
  if (name !== undefined && (name === '' || PATTERN.test(name))) {
    return fieldError(`${path}.name`, name, 'must be the name of a cluster', 'as it is registered in Argo CD');
  }
  if (server === undefined) return undefined;
  if (PATTERN.test(server))
    return fieldError(`${path}.server`, server, 'must not be a pattern', 'write its name instead');
  return URL.parse(server)?.protocol === 'https:'
    ? undefined
    : fieldError(`${path}.server`, server, 'must be an https URL', 'as it is registered in Argo CD');
};
