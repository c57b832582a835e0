/** What the simulated API server answers. */
import type { Resource } from './kinds/resources.ts';
import type { KubeObject } from './storage/object.ts';
import { ApiError } from './storage/status.ts';

/** An answer to be sent. */
export interface Answer {
  readonly code: number;
  /** A JSON value, or the JSON text of one. */
  readonly body: object | string;
  readonly contentType?: string;
}

/** The body with status 200, or another. */
export const ok = (body: object | string, code = 200): Answer => ({ code, body });

/** What the deletion of an object is answered with, where that is not the object. */
export const success = (resource: Resource, { metadata }: KubeObject): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: {
    name: metadata.name,
    ...(resource.group === '' ? {} : { group: resource.group }),
    kind: resource.plural,
    uid: metadata.uid,
  },
});

/** The reason that goes with a status of an injected fault. */
export const REASONS: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** The group has no such resource, or the resource no such subresource. */
export const noSuchResource = (): ApiError =>
  new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});

/** There is nothing at all at the path. */
export const pageNotFound = (): Answer => ({
  code: 404,
  body: '404 page not found\n',
  contentType: 'text/plain; charset=utf-8',
});
