import { describe, expect, it } from 'vitest';

import { linkCrd } from '../../../crds/link/definition.ts';
import { LINK_SPEC_SCHEMA } from '../../../crds/link/schema.ts';
import { schemasIn } from '../schemas-in.ts';

const all = linkCrd.spec.versions.flatMap((version) => schemasIn(version.schema.openAPIV3Schema, version.name));

describe('the CustomResourceDefinition of the Link', () => {
  it("has Linkerd's name, group, scope and versions, and stores v1alpha3", () => {
    expect(linkCrd).toMatchObject({
      apiVersion: 'apiextensions.k8s.io/v1',
      metadata: { name: 'links.multicluster.linkerd.io' },
      spec: { group: 'multicluster.linkerd.io', scope: 'Namespaced', names: { plural: 'links', kind: 'Link' } },
    });
    expect(linkCrd.spec.versions.map(({ name, served, storage }) => ({ name, served, storage }))).toEqual([
      { name: 'v1alpha1', served: true, storage: false },
      { name: 'v1alpha2', served: true, storage: false },
      { name: 'v1alpha3', served: true, storage: true },
    ]);
  });

  it('keeps every field when a client writes through an old version', () => {
    const [first, ...others] = linkCrd.spec.versions.map(({ schema }) => schema);
    for (const other of others) expect(other).toEqual(first);
  });

  it('has a status subresource and the printer columns in every version (G1)', () => {
    for (const { subresources, additionalPrinterColumns } of linkCrd.spec.versions) {
      expect(subresources).toEqual({ status: {} });
      expect(additionalPrinterColumns.map(({ name, jsonPath }) => [name, jsonPath])).toEqual([
        ['Target', '.spec.targetClusterName'],
        ['Ready', '.status.conditions[?(@.type=="Ready")].status'],
        ['Reason', '.status.conditions[?(@.type=="Ready")].reason'],
        ['Gateway', '.status.conditions[?(@.type=="GatewayAlive")].status'],
        ['Mirrored', '.status.mirrors.ready'],
        ['Exported', '.status.mirrors.total'],
        ['Failed', '.status.mirrors.failed'],
        ['Age', '.metadata.creationTimestamp'],
      ]);
    }
  });

  it('gives every field a type, and no keyword that the API server does not keep', () => {
    expect(all.filter(([, { type }]) => typeof type !== 'string').map(([path]) => path)).toEqual([]);
    const keywords = new Set(all.flatMap(([, schema]) => Object.keys(schema)));
    expect([...keywords].sort()).toEqual([
      'default',
      'description',
      'enum',
      'format',
      'items',
      'maxLength',
      'minLength',
      'minimum',
      'pattern',
      'properties',
      'required',
      'type',
      'x-kubernetes-list-map-keys',
      'x-kubernetes-list-type',
      'x-kubernetes-map-type',
      'x-kubernetes-preserve-unknown-fields',
    ]);
  });

  it("defaults what Linkerd's defaults, and nothing else in the spec", () => {
    const defaults = schemasIn(LINK_SPEC_SCHEMA).flatMap(([path, schema]) =>
      schema.default === undefined ? [] : [[path, schema.default]],
    );
    expect(defaults).toEqual([
      ['.probeSpec.timeout', '30s'],
      ['.probeSpec.failureThreshold', '3'],
    ]);
  });

  it("refuses no spec that Linkerd's accepts: nothing is required, bounded or patterned but what Linkerd's is", () => {
    const strict = all.flatMap(([path, schema]) =>
      path.startsWith('v1alpha3.spec')
        ? Object.keys(schema)
            .filter((keyword) => !['type', 'description', 'properties', 'items', 'default'].includes(keyword))
            .map((keyword) => `${path.slice('v1alpha3.spec.'.length)} ${keyword}`)
        : [],
    );
    const ofSelector = (name: string) => [
      // It decides how selectors are applied, and refuses none.
      `${name} x-kubernetes-map-type`,
      `${name}.matchLabels x-kubernetes-preserve-unknown-fields`,
      `${name}.matchExpressions[] required`,
      `${name}.matchExpressions[].operator enum`,
    ];
    expect(strict).toEqual([
      ...['selector', 'remoteDiscoverySelector', 'federatedServiceSelector'].flatMap(ofSelector),
      // Ours: Linkerd's CRD drops them.
      'federation enum',
      'importPolicy.types[] enum',
      'importPolicy.approval enum',
      'importPolicy.approved x-kubernetes-list-type',
    ]);
  });

  it('holds no object twice', () => {
    const seen = new Set<object>();
    const twice: object[] = [];
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      if (seen.has(value)) twice.push(value);
      seen.add(value);
      Object.values(value).forEach(visit);
    };
    visit(linkCrd);
    expect(twice).toEqual([]);
  });
});
