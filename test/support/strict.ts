/** Server-side apply as strict as an API server can be: a field that it does not know is an error. */
import { expect } from 'vitest';
import type { ApiJson } from '../../constructs/rendered/render.ts';
import { type Api, type KubeObject, objectPath } from '../cluster/workload/index.ts';

/** Applies an object, which must be accepted to the last field. */
export const applyStrict = async (
  client: Api,
  object: ApiJson,
  query: Readonly<Record<string, string>> = {},
): Promise<KubeObject> => {
  const { code, body } = await client.request<KubeObject>('PATCH', objectPath(object), {
    query: { fieldManager: 'gitops', force: true, fieldValidation: 'Strict', ...query },
    body: object,
    contentType: 'application/apply-patch+yaml',
  });
  expect(code, JSON.stringify(body)).toBeOneOf([200, 201]);
  return body;
};

/** Applies an object twice; the second time must change nothing, or Argo CD would show a difference for ever. */
export const applyTwice = async (client: Api, object: ApiJson): Promise<void> => {
  const { resourceVersion } = (await applyStrict(client, object)).metadata;
  const again = await applyStrict(client, object);
  expect(again.metadata.resourceVersion, `${object.kind} ${object.metadata.name}`).toBe(resourceVersion);
};
