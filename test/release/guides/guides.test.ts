/** Linkerd's guides as our docs have them, followed by their readers on real API servers. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onReal } from '../../cluster/on-each-backing.ts';
import { follow, type Replacement } from './follow.ts';
import { Lab } from './lab.ts';

const PAGE_MS = 240_000;

onReal('the guides of docs/', () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start();
    await lab.installLinkerd();
    const { code, stderr } = await lab.type(
      ['east', 'west']
        .map((cluster) => `linkspan install --context=${cluster} --image=linkspan:0.1.0 --apply`)
        .join('\n'),
    );
    expect(code, stderr).toBe(0);
  }, 120_000);
  afterAll(() => lab.stop());

  /** The address of an API server that a pod has, and the commands that run in pods: no container runs. */
  const inLab = (target: 'east' | 'west', ...execs: readonly string[]): readonly Replacement[] => [
    { written: `https://k3d-${target}-server-0:6443`, typed: lab.clusters[target].server },
    ...execs.map((written) => ({ written, typed: 'get pods' })),
  ];

  test('docs/guide-podinfo.md', { timeout: PAGE_MS }, async () => {
    const typed = await follow(
      lab,
      'docs/guide-podinfo.md',
      inLab(
        'east',
        'exec deployment/frontend --container=curl -- curl --silent http://podinfo-east:9898',
        `exec deployment/frontend --container=curl -- \\
  sh -c 'for i in 1 2 3 4 5 6; do curl --silent http://podinfo:9898 | grep message; done'`,
      ),
    );
    const printed = typed.map((block) => block.printed).join('');
    expect(printed).toMatch(/ENDPOINT_IP\n203\.0\.113\.20\n/);
    expect(printed).toMatch(/GATEWAY_IP\n203\.0\.113\.20\n/);
    expect(printed).toContain('httproute.gateway.networking.k8s.io/podinfo created');
    expect(printed).toContain('trafficsplit.split.smi-spec.io/podinfo created');
  });

  test('docs/guide-statefulsets.md', { timeout: PAGE_MS }, async () => {
    const typed = await follow(
      lab,
      'docs/guide-statefulsets.md',
      inLab('west', 'exec curl --container=curl -- curl --silent http://nginx-set-0.nginx-svc-west'),
    );
    const exported = typed.filter(({ heading }) => heading === 'Export the Service').map(({ printed }) => printed);
    for (const pod of ['nginx-set-0', 'nginx-set-1', 'nginx-set-2']) {
      expect(exported.join('')).toMatch(new RegExp(`^${pod}-west +ClusterIP +10\\.96\\.`, 'm'));
      expect(exported.join('')).toContain(`hostname: ${pod}`);
    }
  });
});
