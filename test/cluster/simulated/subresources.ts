/** Requests that do more than read or write an object: scale, binding, and the review of one's own rights. */
import { type Answer, ok } from './answers.ts';
import type { Exchange } from './exchange.ts';
import type { Authorizer, User } from './kinds/rbac.ts';
import type { Resource } from './kinds/resources.ts';
import { readScale, type Scale, scaleOf } from './kinds/scale.ts';
import { contentTypeOf, writeOptions } from './options.ts';
import type { RequestInfo } from './request.ts';
import { type Fields, mutable } from './storage/object.ts';
import { parseBody, type Registry } from './storage/registry.ts';
import { conflict } from './storage/status.ts';

/** A SelfSubjectAccessReview: whether the user may do what it describes. */
export function reviewAccess(authorizer: Authorizer, user: User, text: string): Answer {
  const review = parseBody(text) as { spec?: { resourceAttributes?: Fields; nonResourceAttributes?: Fields } };
  const {
    verb = '',
    group = '',
    resource = '',
    subresource,
    namespace,
    name,
    path,
  } = {
    ...review.spec?.resourceAttributes,
    ...review.spec?.nonResourceAttributes,
  } as Record<string, string | undefined>;
  const allowed = authorizer.allows(user, {
    ...{ verb, group, resource },
    ...(subresource ? { subresource } : {}),
    ...(namespace ? { namespace } : {}),
    ...(name ? { name } : {}),
    ...(path ? { path } : {}),
  });
  return ok(
    {
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: review.spec,
      status: { allowed },
    },
    201,
  );
}

/** What a scheduler does: puts a Pod on a Node. */
export function bind(
  registry: Registry,
  resource: Resource,
  request: RequestInfo,
  exchange: Exchange,
  text: string,
): Answer {
  const { namespace, name = '' } = request;
  const { target } = parseBody(text) as { target: { name: string } };
  const pod = mutable(registry.get(resource, namespace, name));
  const bound = pod.spec as { nodeName?: string };
  if (bound.nodeName !== undefined) {
    throw conflict('', 'pods/binding', name, `pod ${name} is already assigned to node "${bound.nodeName}"`);
  }
  bound.nodeName = target.name;
  const { subresource: _s, ...options } = writeOptions(request, exchange);
  registry.update(resource, namespace, name, pod, options);
  return ok({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }, 201);
}

/** The scale of a workload, read or written. */
export function scale(
  registry: Registry,
  resource: Resource,
  request: RequestInfo,
  exchange: Exchange,
  text: string,
): Answer {
  const { verb, namespace, name = '' } = request;
  const object = registry.get(resource, namespace, name);
  if (verb === 'get') return ok(scaleOf(object));
  const asked = readScale(object, contentTypeOf(exchange), verb === 'update', parseBody(text) as Scale);
  const next = mutable(object);
  (next.spec as Fields).replicas = asked.replicas;
  next.metadata.resourceVersion = asked.resourceVersion ?? object.metadata.resourceVersion!;
  const { subresource: _s, ...options } = writeOptions(request, exchange);
  return ok(scaleOf(registry.update(resource, namespace, name, next, options).object));
}
