/**
 * docs/migrate.md on a cluster with the objects of Linkerd's multicluster chart, a Link as its command line makes it, and
 * mirrors as its controller writes them: to Linkspan, and back. No mirror may change.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onReal } from '../../cluster/on-each-backing.ts';
import { GATEWAY } from '../../support/builders.ts';
import { inventory } from '../../support/inventory.ts';
import { linkerdChart } from '../../support/linkerd-chart.ts';
import { LinkerdDeployment, seedMirrors } from '../../support/linkerd-install.ts';
import { follow } from './follow.ts';
import { CONTROLLERS, Lab } from './lab.ts';

const PAGE_MS = 240_000;
const COUNTS = { plain: 5, headless: 1, pods: 2 };
/** What a mirror is made of. */
const MIRROR = new Set(['services', 'endpoints', 'endpointslices']);

onReal('docs/migrate.md', () => {
  let lab: Lab;
  let linkerd: LinkerdDeployment;
  let localMirror: LinkerdDeployment;

  beforeAll(async () => {
    // What is exported has endpoints, and no pods that they could be made of.
    lab = await Lab.start({ controllers: CONTROLLERS.filter((name) => !/^endpoint(s|slice)-controller$/.test(name)) });
    await lab.installLinkerd();
    const items = linkerdChart.filter(({ kind }) => kind !== 'Link');
    await lab.write('chart.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await lab.write('values.yaml', 'controllerDefaults: { enableHeadlessServices: true }\n');
    const { code, stderr } = await lab.type(`
      for cluster in east west; do
        kubectl --context=$cluster apply -f chart.json
        kubectl --context=$cluster create namespace shop
      done
      linkspan link-gen --context=west --cluster-name=west --gateway-addresses=${GATEWAY} \\
        --api-server-address=${lab.clusters.west.server} > link.yaml
      kubectl --context=east apply -f link.yaml
      kubectl config use-context east`);
    expect(code, stderr).toBe(0);
    await seedMirrors(lab.east, lab.west, COUNTS);
    linkerd = await LinkerdDeployment.start(lab.clusters.east, lab.clusters.west);
    localMirror = await LinkerdDeployment.startLocal(lab.clusters.east);
  }, 120_000);
  afterAll(async () => {
    await Promise.all([linkerd.stop(), localMirror.stop()]);
    await lab.stop();
  });

  test('keeps every mirror, there and back', { timeout: PAGE_MS }, async () => {
    const before = await inventory(lab);
    expect(Object.keys(before).filter((name) => name.startsWith('Service'))).toHaveLength(8);
    await lab.clusters.east.clearAudit();

    const typed = await follow(lab, 'docs/migrate.md');

    const printed = typed.map((block) => `$ ${block.commands}${block.printed}`).join('');
    expect(printed.match(/^Link west: 8 mirrors have kept uid and ClusterIP$/gm)).toHaveLength(2);
    expect(printed).toContain(
      'Deployment linkerd-local-service-mirror: 0 federated Services have kept uid and ClusterIP',
    );
    expect(printed).toContain('Deployment linkerd-local-service-mirror: it stands by while the operator holds Lease');
    expect(await inventory(lab), printed).toEqual(before);
    const writes = (await lab.clusters.east.audit()).filter(
      ({ verb, resource, userAgent, namespace }) =>
        !['get', 'list', 'watch'].includes(verb) &&
        MIRROR.has(resource) &&
        namespace === 'shop' &&
        userAgent.startsWith('linkspan'),
    );
    expect(writes).toEqual([]);
  });
});
