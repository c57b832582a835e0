import { ApiObject, JsonPatch } from 'cdk8s';
import { expect, test } from 'vitest';

import { LinkCrd } from '../../../constructs/link/link-crd.ts';
import { MirrorService } from '../../../constructs/rendered/mirror/mirror-service.ts';
import { render, renderOf } from '../../../constructs/rendered/render.ts';
import { linkCrd } from '../../../crds/link/definition.ts';

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

test('what means something is kept: empty texts, lists and maps, false and zero; what is undefined is not', () => {
  const data = { text: '', list: [], map: {}, no: false, zero: 0, gone: undefined };

  expect(render((chart) => new ApiObject(chart, 'a', { ...configMap, data }))).toStrictEqual([
    { ...configMap, data: { text: '', list: [], map: {}, no: false, zero: 0 } },
  ]);
});

test('objects come after those they depend on', () => {
  const names = render((chart) => {
    const first = new ApiObject(chart, 'first', { ...configMap, metadata: { name: 'first' } });
    first.addDependency(new ApiObject(chart, 'second', { ...configMap, metadata: { name: 'second' } }));
  }).map(({ metadata }) => metadata.name);

  expect(names).toEqual(['second', 'first']);
});

test('what a node finds invalid is not rendered', () => {
  expect(() =>
    render((chart) => {
      new ApiObject(chart, 'a', configMap).node.addValidation({ validate: () => ['too long'] });
    }),
  ).toThrow('too long');
});

test('renders share nothing', () => {
  const one = () => render((chart) => new ApiObject(chart, 'a', configMap));

  expect(one()).toEqual(one());
  expect(one()).toHaveLength(1);
});

test('the CRD is rendered as it is defined, and takes patches', () => {
  expect(render((chart) => new LinkCrd(chart, 'crd'))).toEqual([linkCrd]);
  expect(
    render((chart) => {
      new LinkCrd(chart, 'crd').crd.addJsonPatch(
        JsonPatch.add('/metadata/annotations', { 'argocd.argoproj.io/sync-wave': '-1' }),
      );
    })[0]!.metadata.annotations,
  ).toEqual({ 'argocd.argoproj.io/sync-wave': '-1' });
});

const props = { service: 'web', namespace: 'shop', targetCluster: 'west', ports: [{ port: 80 }] };

test('what was rendered lately of the same props is the same, and cannot be changed', () => {
  const objects = renderOf(MirrorService, props);

  expect(objects).toEqual(render((chart) => new MirrorService(chart, 'mirror', props)));
  expect(renderOf(MirrorService, structuredClone(props))).toBe(objects);
  expect(renderOf(MirrorService, { ...props, ports: [{ port: 81 }] })).not.toEqual(objects);
  expect(() => Object.assign(objects[0]!.metadata, { name: 'api' })).toThrow(TypeError);
});

test('few renders are remembered, and no long one', () => {
  const first = renderOf(MirrorService, props);
  for (let port = 1000; port < 1255; port += 1) renderOf(MirrorService, { ...props, ports: [{ port }] });
  expect(renderOf(MirrorService, props)).toBe(first);
  for (let port = 1000; port < 1256; port += 1) renderOf(MirrorService, { ...props, ports: [{ port }] });
  expect(renderOf(MirrorService, props)).not.toBe(first);

  const long = { ...props, annotations: { note: 'x'.repeat(9_000) } };
  expect(renderOf(MirrorService, long)).not.toBe(renderOf(MirrorService, long));
});

test('props that are refused are refused each time', () => {
  const wrong = { ...props, namespace: 'Shop' };
  for (let time = 0; time < 2; time += 1) expect(() => renderOf(MirrorService, wrong)).toThrow('namespace');
});
