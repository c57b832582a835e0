import { ApiObject, App, Chart } from 'cdk8s';
import { expect, test } from 'vitest';

import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { annotateSyncWaves, syncWave } from '../../../constructs/argo-cd/sync-waves.ts';

const WAVE = 'argocd.argoproj.io/sync-wave';

const object = (chart: Chart, kind: string, annotations: Record<string, string> = {}) =>
  new ApiObject(chart, kind, { apiVersion: 'v1', kind, metadata: { name: 'a', annotations } });

const wavesOf = (chart: Chart) =>
  Object.fromEntries(
    (chart.toJson() as ApiJson[]).map(({ kind, metadata }) => [kind, metadata.annotations?.[WAVE]] as const),
  );

test('definitions and namespaces go first, then rights, then what runs, and Links last', () => {
  const inOrder = [
    ['CustomResourceDefinition', 'Namespace', 'AppProject'],
    ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
    ['Deployment', 'Service', 'Secret', 'ExternalSecret', 'Server', 'Application', 'Anything'],
    ['Link'],
  ];
  for (const [wave, kinds] of inOrder.entries()) {
    expect(
      kinds.map((kind) => syncWave(kind)),
      kinds.join(),
    ).toEqual(kinds.map(() => wave));
  }
});

test('every object is annotated with its wave, also one that was added later', () => {
  const chart = new Chart(new App(), 'east');
  object(chart, 'Role');
  annotateSyncWaves(chart);
  object(chart, 'Link');
  expect(wavesOf(chart)).toEqual({ Role: '1', Link: '3' });
  expect(wavesOf(chart)).toEqual({ Role: '1', Link: '3' });
});

test('the wave that an object has by itself holds', () => {
  const chart = new Chart(new App(), 'east');
  object(chart, 'Job', { [WAVE]: '-1' });
  annotateSyncWaves(chart);
  expect(wavesOf(chart)).toEqual({ Job: '-1' });
});
