/** `linkspan check` as it is typed: what it prints, its exit codes, and what it says when it may not look. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { READERS } from '../../../cluster/guests.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { eventually, installCrd, type ObjectRef } from '../../../cluster/workload/index.ts';
import { EXPORTED, LINKS_NAMESPACE, link, namespace, service, slice } from '../../../support/builders.ts';
import { linkerdLinkCrd } from '../../../support/linkerd-crd.ts';
import { ANCHOR } from '../../../support/trust-anchors.ts';
import { TwoClusters } from '../../../support/two-clusters.ts';
import { linkspan, type Outcome } from '../../linkspan.ts';
import { linkerdConfig } from './installed.ts';

interface Printed {
  readonly success: boolean;
  readonly categories: readonly {
    readonly categoryName: string;
    readonly checks: readonly {
      readonly id: string;
      readonly result: string;
      readonly hint?: string;
      readonly error?: string;
    }[];
  }[];
}

const RBAC = 'rbac.authorization.k8s.io';

/** Lets the second reader list a resource: everywhere, or in the namespace of Links alone. */
const mayList = (kind: 'ClusterRole' | 'Role', group: string, resource: string): readonly ObjectRef[] => {
  const metadata = { name: `list-${resource}`, ...(kind === 'Role' && { namespace: LINKS_NAMESPACE }) };
  const role = {
    apiVersion: `${RBAC}/v1`,
    kind,
    metadata,
    rules: [{ apiGroups: [group], resources: [resource], verbs: ['list'] }],
  };
  const roleRef = { apiGroup: RBAC, kind, name: metadata.name };
  const subjects = [{ apiGroup: RBAC, kind: 'User', name: READERS[1].name }];
  const binding = { apiVersion: `${RBAC}/v1`, kind: `${kind}Binding`, metadata, roleRef, subjects };
  return [role, binding];
};

onEachBacking('linkspan check', (backing) => {
  let clusters: TwoClusters;
  let directory: string;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-check-'));
    for (const client of [clusters.east, clusters.west]) {
      await client.apply(namespace('linkerd'));
      await client.apply(linkerdConfig(ANCHOR));
    }
    await clusters.link();
    await clusters.west.apply(service('web', { labels: EXPORTED }));
    await clusters.west.apply(slice('web'));
    clusters.operator({ flags: { probeVia: 'address', probeConnectTo: [gatewayAt()] } });
    await clusters.ready();
  }, 120_000);
  afterAll(async () => {
    await clusters.stop();
    await rm(directory, { recursive: true });
  });

  const gatewayAt = (): string => `203.0.113.10=127.0.0.1:${clusters.gateway.address.port}`;
  const run = (...args: readonly string[]): Promise<Outcome> =>
    linkspan(directory, 'check', `--kubeconfig=${clusters.eastCluster.kubeconfigFile}`, ...args);
  const json = async (...args: readonly string[]): Promise<Printed> =>
    JSON.parse((await run('--output=json', ...args)).stdout) as Printed;
  const resultsOf = ({ categories }: Printed): Readonly<Record<string, string>> =>
    Object.fromEntries(categories.flatMap(({ checks }) => checks.map(({ id, result }) => [id, result])));
  /** The kubeconfig of east, changed. */
  const changed = async (change: (text: string) => string): Promise<string> => {
    const file = join(directory, 'changed');
    await writeFile(file, change(clusters.eastCluster.kubeconfig));
    return `--kubeconfig=${file}`;
  };
  const asPowerless = (): Promise<string> => changed((text) => text.replace(/token: .*/, `token: ${READERS[2].token}`));

  test('print a section for each category, the remedy of what is wrong, and exit 1', async () => {
    const { code, stdout, stderr } = await run();
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(/^kubernetes-api\n-{14}\n√ the Kubernetes API can be queried\n√ /);
    expect(stdout).toContain(
      '\n× the operator is installed\n    × Deployment linkerd-multicluster/linkspan-operator: not found\n      → install it: `linkspan install --apply --kubeconfig ',
    );
    expect(stdout).toContain('\n√ the operator leads\n');
    expect(stdout).toContain('docs/checks.md#operator-installed for hints');
    expect(stdout).toMatch(/Status check results are ×\n$/);
  });

  test('print JSON in the form of linkerd check', async () => {
    const printed = await json();
    expect(printed.success).toBe(false);
    expect(resultsOf(printed)).toMatchObject({
      'source-api': 'success',
      'operator-installed': 'error',
      'operator-running': 'skipped',
      'links-valid': 'success',
      'gateway-alive': 'success',
      'target-gateway': 'warning',
      'mirror-endpoints': 'success',
    });
  });

  test('check one Link alone', async () => {
    await clusters.east.apply(link('south'));
    try {
      expect(resultsOf(await json())['credentials-secret']).toBe('error');
      expect(resultsOf(await json('--link=west'))['credentials-secret']).toBe('success');
    } finally {
      await clusters.east.delete(link('south'));
    }
  });

  test('wait until nothing is wrong, or the time is over', async () => {
    const { code, stdout, stderr } = await run('--wait', '--timeout=1s');
    expect(code).toBe(1);
    // Perhaps also for what the operator has not yet removed of the Link before.
    expect(stderr).toMatch(/^waiting: operator-installed(, mirror-orphans)?\n/);
    expect(stdout).toContain('Status check results are ×');
  });

  test('text of a cluster is one line, without control characters', async () => {
    const status = {
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'Odd',
          message: '\u001b[2J\n√ all is well\u202e',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    };
    await clusters.stopOperators();
    await clusters.east.patch(link('west'), { status }, { subresource: 'status' });
    const { stdout } = await run();
    expect(stdout).toContain('× Link linkerd-multicluster/west: Odd: [2J √ all is well\n');
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
  });

  describe('never say that all is well without having looked', () => {
    test('with credentials that may read nothing', async () => {
      const { code, stdout } = await run(await asPowerless());
      expect(code).toBe(1);
      expect(stdout).toContain(
        '× everything that is checked can be read\n    × east: cannot get ConfigMap linkerd/linkerd-config: ',
      );
      expect(stdout.match(/× east: cannot list services:/g)).toHaveLength(1);
      for (const what of ['deployments', 'pods', 'leases', 'links', 'services', 'endpoints', 'endpointslices']) {
        expect(stdout).toContain(`cannot list ${what}`);
      }
      const passed = stdout.split('\n').filter((line) => line.startsWith('√'));
      expect(passed).toEqual(['√ the Kubernetes API can be queried']);
    });

    test('that a mirror has no Link, where Links of other namespaces may not be read', async () => {
      const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'north' };
      const rights = [
        ...mayList('ClusterRole', '', 'services'),
        ...mayList('Role', 'multicluster.linkerd.io', 'links'),
      ];
      const objects = [
        ...rights,
        namespace('operator-2'),
        link('north', {}, { namespace: 'operator-2' }),
        service('web-north', { labels }),
      ];
      for (const each of objects) await clusters.east.apply(each);
      try {
        const limited = await changed((text) => text.replace(/token: .*/, `token: ${READERS[1].token}`));
        await eventually('the rights hold', async () => resultsOf(await json(limited))['links-there'] === 'success');
        const { stdout } = await run(limited);
        expect(stdout).toContain(
          '- each mirror is part of a Link (skipped: Links of other namespaces cannot be read)\n',
        );
        expect(stdout).not.toContain('delete service');
      } finally {
        for (const each of objects.toReversed()) await clusters.east.delete(each);
      }
    });

    test('with credentials that are refused', async () => {
      const { code, stdout } = await run(await changed((text) => text.replace(/token: .*/, 'token: refused')));
      expect(code).toBe(1);
      expect(stdout).toContain('× the Kubernetes API can be queried');
      expect(stdout).toContain('→ log in to the cluster again');
      expect(stdout.split('\n').filter((line) => line.startsWith('√'))).toEqual([]);
    });

    test('of a server that does not answer', async () => {
      const nowhere = await changed((text) => text.replace(clusters.eastCluster.server, 'https://127.0.0.1:1'));
      for (const flags of [[], ['--pre']]) {
        const { code, stdout } = await run(nowhere, ...flags);
        expect(code).toBe(1);
        expect(stdout).toContain('ECONNREFUSED');
        expect(stdout.split('\n').filter((line) => line.startsWith('√'))).toEqual([]);
      }
    });
  });

  test.each([
    [['--link=nope'], 1, 'error: Link linkerd-multicluster/nope of east: not found (name one with --link'],
    [['--pre', '--link=west'], 2, 'error: --link: must not be used with --pre'],
    [['--output=yaml'], 2, "argument 'yaml' is invalid. Allowed choices are table, json."],
    [['--timeout=soon'], 2, 'It must be a duration such as 30s, 5m or 1h.'],
    [['--context=north'], 2, 'has no context "north"'],
    [['--kubeconfig=/nowhere'], 2, '/nowhere cannot be read'],
    [['--links'], 2, "unknown option '--links'"],
    [['west'], 2, 'too many arguments'],
  ])('refuse %j', async (flags, code, message) => {
    const outcome = await run(...flags);
    expect(outcome.stderr).toContain(message);
    expect(outcome).toMatchObject({ code, stdout: '' });
  });

  describe('before the installation', () => {
    test("name what is missing: Linkerd's policy", async () => {
      // A cluster is lent with the kinds that others have installed.
      const metadata = { name: 'servers.policy.linkerd.io' };
      await clusters.east.delete({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata });
      const printed = await eventually('they are no longer served', async () => {
        const found = await json('--pre');
        return resultsOf(found)['pre-policy'] === 'error' && found;
      });
      expect(resultsOf(printed)).toMatchObject({
        'pre-api': 'success',
        'pre-kubernetes-version': 'success',
        'pre-linkerd': 'success',
        'pre-rights': 'success',
        'pre-operator': 'success',
        'pre-crd': 'success',
        'pre-policy': 'error',
      });
      const [missing] = printed.categories.flatMap(({ checks }) => checks.filter(({ id }) => id === 'pre-policy'));
      expect(missing!.error).toContain('servers.policy.linkerd.io/v1beta3: not served');
    });

    test('name each right that is missing', async () => {
      // A table shows the first of them.
      const { code, stdout } = await run(await asPowerless(), '--pre', '--output=json');
      expect(code).toBe(1);
      for (const right of [
        'create namespaces',
        'patch customresourcedefinitions.apiextensions.k8s.io',
        'create clusterroles.rbac.authorization.k8s.io',
        `create deployments.apps in namespace ${LINKS_NAMESPACE}`,
        `create servers.policy.linkerd.io in namespace ${LINKS_NAMESPACE}`,
      ]) {
        expect(stdout).toContain(`east: may not ${right} (`);
      }
    });

    test('name what is in the way', async () => {
      const { code, stdout } = await run('--pre', '--linkerd-namespace=nowhere');
      expect(code).toBe(1);
      expect(stdout).toContain('× ConfigMap nowhere/linkerd-config: not found');
      await installCrd(clusters.eastCluster, linkerdLinkCrd);
      expect(resultsOf(await json('--pre'))['pre-crd']).toBe('warning');
    });
  });
});
