/**
 * A stand-in for the HTTPRoute's CustomResourceDefinition of the Gateway API, with the fields that the operator writes and
 * no others: on simulated API servers, the demo downloads nothing.
 */
import type { ObjectRef } from '../../test/cluster/workload/index.ts';
import { RouteApi } from '../../crds/wire.ts';

const text = { type: 'string' };
const port = { type: 'integer', minimum: 1, maximum: 65_535 };
const weight = { type: 'integer', minimum: 0, maximum: 1_000_000, default: 1 };
const listOf = (properties: object, required: readonly string[] = []) => ({
  type: 'array',
  items: { type: 'object', properties, required },
});
const spec = {
  type: 'object',
  properties: {
    parentRefs: listOf({ group: text, kind: text, namespace: text, name: text, port }, ['name']),
    rules: listOf({ backendRefs: listOf({ namespace: text, name: text, port, weight }, ['name']) }),
  },
};

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `httproutes.${RouteApi.group}` },
  spec: {
    group: RouteApi.group,
    scope: 'Namespaced',
    names: { kind: 'HTTPRoute', listKind: 'HTTPRouteList', plural: 'httproutes', singular: 'httproute' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', required: ['spec'], properties: { spec } } },
      },
    ],
  },
};

/** The definition. */
export const httpRouteCrd: ObjectRef = definition;
