/** Installations that are healthy, ours and Linkerd's: nothing is an error, and each warning is one that there must be. */
import { afterAll, beforeAll, describe, test } from 'vitest';
import { linkCrd } from '../../../../crds/index.ts';
import { onReal } from '../../../cluster/on-each-backing.ts';
import { eventually, installCrd } from '../../../cluster/workload/index.ts';
import { LINKS_NAMESPACE, service } from '../../../support/builders.ts';
import { linkerdChart } from '../../../support/linkerd-chart.ts';
import { LinkerdController } from '../../../support/linkerd-controller.ts';
import { Installed, type InstallOptions, LINK, OPERATOR } from './installed.ts';

interface SetUp extends InstallOptions {
  readonly name: string;
  /** The warnings that there must be. */
  readonly warnings?: readonly RegExp[];
}

const { gatewayAddresses: _, probe: __, ...FLAT_LINK } = LINK;

const OURS: readonly SetUp[] = [
  {
    name: 'with the defaults of the constructs, in the mesh',
    east: { gateway: {}, operator: { image: OPERATOR.image } },
  },
  {
    name: 'with three replicas and EndpointSlices',
    east: { operator: { ...OPERATOR, replicas: 3, endpoints: 'slices' } },
  },
  {
    name: 'in gateway mode alone, with the least rights',
    east: { operator: { ...OPERATOR, replicas: 1, mirrorNamespaces: ['shop'] } },
    west: { sources: [{ sourceCluster: 'east', linkerdController: false }] },
    copies: 'link',
    warnings: [/^trust-anchors warning/],
  },
  { name: 'on a flat network, without a gateway', east: { links: [FLAT_LINK] }, west: { gateway: false } },
  {
    name: 'limited to one namespace of the target',
    east: { links: [{ ...LINK, targetNamespaces: ['shop'] }] },
    west: { sources: [{ sourceCluster: 'east', exportNamespaces: ['shop'] }] },
    copies: 'link',
    // The account may read neither the gateway's Service nor Linkerd's settings.
    warnings: [
      /^target-reads warning west: cannot list services in namespace linkerd-multicluster/,
      /^trust-anchors warning/,
    ],
  },
];

onReal('check finds no error in', () => {
  let site: Installed;

  beforeAll(async () => {
    site = await Installed.start('real');
    await site.exports();
  }, 120_000);
  afterAll(() => site.stop());

  describe('an installation of ours', () => {
    test.each(OURS)('$name', async ({ warnings = [], ...options }) => {
      // A flat mirror needs the credentials of Linkerd's destination.
      if (options.copies === 'link') await site.west.delete(service('db'));
      await site.install(options);
      await site.run();
      await site.green(warnings);
    });

    test('whose target exports nothing', async () => {
      for (const name of ['web', 'idle', 'db']) await site.west.delete(service(name));
      await site.install();
      await site.run();
      await site.green();
    });
  });
});

onReal('check finds no error in an installation of Linkerd', () => {
  let site: Installed;
  let controller: LinkerdController;

  beforeAll(async () => {
    site = await Installed.start(
      'real',
      linkerdChart.find(({ kind }) => kind === 'CustomResourceDefinition'),
    );
    await site.exports();
    // The stand-in for Linkerd's controller knows gateway mode alone.
    await site.west.delete(service('db'));
    await site.installChart();
    const pod = await eventually("the pod of Linkerd's controller runs", async () => {
      const labelSelector = 'mirror.linkerd.io/cluster-name=west,component=controller';
      const pods = await site.east.list({ apiVersion: 'v1', kind: 'Pod', namespace: LINKS_NAMESPACE, labelSelector });
      return pods[0];
    });
    const { eastCluster, westCluster } = site.clusters;
    controller = new LinkerdController(eastCluster, westCluster, {
      identity: pod.metadata.name,
      leaseDurationSeconds: 10,
    });
    await eventually('it writes', async () => controller.passes > 0);
  }, 120_000);
  afterAll(async () => {
    await controller.stop();
    await site.stop();
  });

  const CRD = /^link-crd-fields warning/;

  test('while its controller writes, and the operator stands by', async () => {
    await site.run();
    await site.green([CRD, /^linkerd-controllers warning Deployment .*controller-west: writes the mirrors of west/]);
  });

  test('when the operator has taken over, and its controller is removed', async () => {
    await controller.stop();
    await site.east.delete({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'controller-west', namespace: LINKS_NAMESPACE },
    });
    await site.green([CRD]);
  });

  test('when the CRD is ours', async () => {
    await installCrd(site.clusters.eastCluster, linkCrd);
    await site.clusters.stopOperators();
    await site.run();
    await site.green();
  });
});
