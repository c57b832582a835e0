/** The pages for whoever runs Linkspan: their commands, typed on clusters in which all is well. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onReal } from '../../cluster/on-each-backing.ts';
import { eventually } from '../../cluster/workload/index.ts';
import { follow, type Replacement } from './follow.ts';
import { Lab } from './lab.ts';

const PAGE_MS = 240_000;

/** Logs are had from a kubelet, and none runs. */
const LOGS: Replacement = {
  written: 'logs --selector=app.kubernetes.io/name=linkspan',
  typed: 'get pods --selector=app.kubernetes.io/name=linkspan --output=name #',
};

onReal('the pages of docs/', () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start();
    await lab.installLinkerd();
    const { code, stderr } = await lab.type(`
      for cluster in east west; do
        linkspan install --context=$cluster --image=linkspan:0.1.0 --apply
        kubectl --context=$cluster create namespace shop
      done
      kubectl --context=west --namespace=shop create deployment web --image=nginx --port=80
      kubectl --context=west --namespace=shop expose deployment web
      kubectl --context=west --namespace=shop label service web mirror.linkerd.io/exported=true
      linkspan link --context=east --to-context=west --api-server-address=${lab.clusters.west.server} --apply --wait`);
    expect(code, stderr).toBe(0);
    await eventually('web is mirrored', async () => (await lab.type(EXPLAIN)).code === 0, 30_000);
  }, 120_000);
  afterAll(() => lab.stop());

  test('docs/troubleshooting.md', { timeout: PAGE_MS }, async () => {
    await follow(lab, 'docs/troubleshooting.md', [LOGS]);
  });

  test('docs/operations.md', { timeout: PAGE_MS }, async () => {
    // Where a page names no context, it is the current one.
    expect(await lab.type('kubectl config use-context east')).toMatchObject({ code: 0 });
    await follow(lab, 'docs/operations.md', [LOGS]);
  });

  test('docs/upgrade.md', { timeout: PAGE_MS }, async () => {
    const typed = await follow(lab, 'docs/upgrade.md');
    const printed = typed.map((block) => block.printed).join('');
    expect(printed).toContain('deployment/linkspan-operator configured in east');
  });
});

const EXPLAIN = 'linkspan explain shop/web --context=east --to-context=west';
