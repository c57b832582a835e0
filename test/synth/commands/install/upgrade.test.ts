/** `linkspan upgrade`: what it keeps, what it shows, what it changes, and what it refuses. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseYaml } from '../../../../operator/kube/access/yaml.ts';
import { routeAuthorization } from '../../../../operator/access/objects.ts';
import { isNewer } from '../../../../synth/commands/install/version.ts';
import { onEachBacking } from '../../../cluster/on-each-backing.ts';
import { eventually, type KubeObject, type ObjectRef } from '../../../cluster/workload/index.ts';
import { objectRef } from '../../../support/builders.ts';
import { installLinkerd, type LinkerdCluster, startLinkerdCluster } from '../../../support/linkerd-cluster.ts';
import { linkspanHere } from '../../in-process.ts';
import type { Outcome } from '../../linkspan.ts';
import { commandWrites } from '../command-writes.ts';

interface Deployment extends KubeObject {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly args?: readonly string[] }[] } };
  };
}

const NAMESPACE = 'linkerd-multicluster';
const IMAGE = 'registry.example.com/linkspan:0.1.0';
const NEXT = 'registry.example.com/linkspan:0.2.0';

const ref = (apiVersion: string, kind: string, name: string): ObjectRef => objectRef(apiVersion, kind, name, NAMESPACE);
const RECORD = ref('v1', 'ConfigMap', 'linkspan-install');
const OPERATOR = ref('apps/v1', 'Deployment', 'linkspan-operator');
const GATEWAY = ref('apps/v1', 'Deployment', 'linkerd-gateway');

/** The policy for everyone, and one that the operator keeps of its own. */
const OPENING = ref('policy.linkerd.io/v1alpha1', 'AuthorizationPolicy', 'linkerd-gateway');
const KEPT = routeAuthorization(NAMESPACE, 'abc', 'linkspan-abc-0').object as unknown as ObjectRef;

onEachBacking('linkspan upgrade', (backing) => {
  let east: LinkerdCluster;

  beforeAll(async () => {
    east = await startLinkerdCluster({ backing, name: 'east' });
    await installLinkerd(east);
  }, 120_000);
  afterAll(() => east.stop());

  const run = (command: string, ...args: readonly string[]): Promise<Outcome> =>
    linkspanHere(command, `--kubeconfig=${east.cluster.kubeconfigFile}`, ...args);
  const writes = () => commandWrites(east.cluster);
  const settings = async (): Promise<unknown> =>
    parseYaml((await east.client.get<{ data: { settings: string } }>(RECORD))?.data.settings ?? '');
  const operatorArgs = async (): Promise<readonly string[]> => {
    const { spec } = (await east.client.get<Deployment>(OPERATOR))!;
    return spec.template.spec.containers.flatMap(({ args = [] }) => args);
  };
  const record = (data: object) => east.client.patch(RECORD, { data });

  test('refuses where nothing is installed', async () => {
    const { code, stderr } = await run('upgrade', '--apply');
    expect(code).toBe(1);
    expect(stderr).toBe(
      'error: ConfigMap linkerd-multicluster/linkspan-install of east: not found: Linkspan was not installed there by linkspan install (install it, or name its namespace with --namespace)\n',
    );
  });

  describe('an installation', () => {
    beforeEach(async () => {
      await east.client.delete(RECORD);
      const { code, stderr } = await run('install', `--image=${IMAGE}`, '--ha', '--apply');
      expect(code, stderr).toBe(0);
      await east.cluster.clearAudit();
    }, 60_000);

    test('stays as it was chosen without flags', async () => {
      const shown = await run('upgrade');
      expect(shown).toMatchObject({ code: 0, stdout: 'east:\n  24 objects would not change\n' });
      const { code, stdout } = await run('upgrade', '--apply', '--output=json');
      expect(code).toBe(0);
      const { results } = JSON.parse(stdout) as { readonly results: readonly { readonly outcome: string }[] };
      expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['unchanged']));
      expect(await settings()).toEqual({ image: IMAGE, ha: true, linkerdNamespace: 'linkerd' });
    });

    test('is shown with what would change, and is not written', async () => {
      const { code, stdout } = await run('upgrade', `--image=${NEXT}`, '--ha=false');
      expect(code).toBe(0);
      expect(stdout).toMatch(/^east:\n~ ConfigMap linkerd-multicluster\/linkspan-install\n/);
      expect(stdout).toContain('\n~ Deployment linkerd-multicluster/linkspan-operator\n');
      expect(stdout).toContain(`    spec.template.spec.containers.controller.image: ${IMAGE} → ${NEXT}\n`);
      expect(stdout).toContain('requiredDuringSchedulingIgnoredDuringExecution: [');
      expect(stdout).toMatch(/\n {2}21 objects would not change\n$/);
      expect(stdout).not.toMatch(/managedFields|resourceVersion/);

      const { stdout: json } = await run('upgrade', `--image=${NEXT}`, '--output=json');
      const { changes } = JSON.parse(json) as {
        readonly changes: readonly { readonly name: string; readonly outcome: string }[];
      };
      const changed = changes.filter(({ outcome }) => outcome !== 'unchanged').map(({ name }) => name);
      expect(changed).toEqual(['linkspan-install', 'linkspan-operator']);
      expect(await writes()).toEqual([]);
    });

    test('gets what flags name, and keeps the rest', async () => {
      const { code, stdout } = await run('upgrade', `--image=${NEXT}`, '--apply');
      expect(code).toBe(0);
      const changed = stdout.split('\n').filter((line) => line !== '' && !line.includes(' unchanged '));
      expect(changed).toEqual([
        'configmap/linkspan-install configured in east',
        'deployment/linkspan-operator configured in east',
      ]);
      expect(await settings()).toEqual({ image: NEXT, ha: true, linkerdNamespace: 'linkerd' });
    });

    test('is finished by a second run where the first was stopped after its record', async () => {
      const settings = `image: ${NEXT}\nha: true\nlinkerdNamespace: linkerd\n`;
      await record({ settings });
      const { code, stdout, stderr } = await run('upgrade', `--image=${NEXT}`, '--apply');
      expect(code, stderr).toBe(0);
      expect(stdout).toContain('deployment/linkspan-operator configured in east\n');
      const again = await run('upgrade');
      expect(again.stdout).toBe('east:\n  24 objects would not change\n');
    });

    test('loses its gateway when a flag says so, and does not get it back by itself', { timeout: 30_000 }, async () => {
      const { stdout } = await run('upgrade', '--gateway=false', '--apply');
      expect(stdout).toContain('deployment/linkerd-gateway deleted in east\n');
      expect(stdout).toContain('service/linkerd-gateway deleted in east\n');
      expect(await east.client.get(GATEWAY)).toBeUndefined();
      expect(await east.client.get(OPERATOR)).toBeDefined();
      const again = await run('upgrade', '--ha=false', '--apply');
      expect(again.stdout).not.toContain('deleted');
      expect(await east.client.get(GATEWAY)).toBeUndefined();

      const back = await run('upgrade', '--gateway', '--apply');
      expect(back.stdout).toContain('deployment/linkerd-gateway created in east\n');
    });

    test('keeps its gateway for a cluster that came while it waited for pods', { timeout: 60_000 }, async () => {
      const status = (replicas: number | null, observedGeneration: number | null) => {
        const up = { replicas, updatedReplicas: replicas, availableReplicas: replicas, readyReplicas: replicas };
        return east.client.patch(OPERATOR, { status: { ...up, observedGeneration } }, { subresource: 'status' });
      };
      const reader = ref('v1', 'ServiceAccount', 'reader');
      const labels = { 'linkerd.io/extension': 'multicluster' };
      const other = (async () => {
        await eventually('the operator is written', async () =>
          JSON.stringify(await east.client.get(OPERATOR)).includes(NEXT),
        );
        await east.client.apply({ ...reader, metadata: { ...reader.metadata, labels } } as ObjectRef);
        await status(2, 1_000);
      })();
      const [{ code, stderr }] = await Promise.all([
        run('upgrade', '--gateway-access=open', '--gateway=false', `--image=${NEXT}`, '--apply'),
        other,
      ]);
      expect(stderr).toContain(
        'error: ServiceAccount linkerd-multicluster/reader of east: another cluster reads this one',
      );
      expect(code).toBe(1);
      expect(await east.client.get(GATEWAY)).toBeDefined();
      await east.client.delete(reader);
      await status(null, null);
    });

    test('closes its gateway by a flag, and leaves the policy to the operator', { timeout: 60_000 }, async () => {
      const closed = await run('upgrade', '--gateway-access=clients', '--gateway-tcp=clients', '--apply');
      expect(closed.code, closed.stderr).toBe(0);
      // Until the operator has admitted what is exported, everyone may use the gateway.
      expect(closed.stdout).not.toContain('deleted');
      expect(await east.client.get(OPENING)).toBeDefined();
      expect(await operatorArgs()).toEqual(
        expect.arrayContaining([
          '--gateway-access=clients',
          '--gateway-tcp=clients',
          '--cluster-domain=east.local',
          '--trust-domain=east.example',
        ]),
      );
      await east.client.delete(OPENING);
      await east.client.apply(KEPT);
      const later = await run('upgrade', '--ha=false', '--apply');
      expect(later.code, later.stderr).toBe(0);
      expect(await east.client.get(KEPT)).toBeDefined();
      expect(await east.client.get(OPENING)).toBeUndefined();
      expect(await settings()).toMatchObject({ gatewayAccess: 'clients', gatewayTcp: 'clients' });

      const open = await run('upgrade', '--gateway-access=open', '--wait=false', '--apply');
      expect(open.stdout).toContain('authorizationpolicy/linkerd-gateway created in east\n');
      expect(open.stderr).toContain('note: the gateway may stay closed: run the command again when ');
      expect(await east.client.get(KEPT)).toBeDefined();
      const none = await run('upgrade', '--gateway=false', '--wait=false', '--apply');
      expect(none.stdout).toContain(`authorizationpolicy/${KEPT.metadata.name} deleted in east\n`);
    });

    test(
      'opens it again, also where the operator before takes the policy away once more',
      { timeout: 60_000 },
      async () => {
        await run('upgrade', '--gateway-access=exported', '--apply');
        await east.client.delete(OPENING);
        const operator = (async () => {
          await eventually(
            'the policy for everyone is written',
            async () => (await east.client.get(OPENING)) !== undefined,
          );
          await east.client.delete(OPENING);
          const up = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2 };
          await east.client.patch(
            OPERATOR,
            { status: { ...up, observedGeneration: 1_000 } },
            { subresource: 'status' },
          );
        })();
        const [open] = await Promise.all([run('upgrade', '--gateway-access=open', '--apply'), operator]);
        expect(open.code, open.stderr).toBe(0);
        expect(open.stdout.match(/authorizationpolicy\/linkerd-gateway created in east/g)).toHaveLength(2);
        expect(await east.client.get(OPENING)).toBeDefined();
        const down = { replicas: null, updatedReplicas: null, availableReplicas: null, readyReplicas: null };
        await east.client.patch(OPERATOR, { status: down }, { subresource: 'status' });
      },
    );

    test.each([
      [['--gateway-access=clients', '--gateway-tcp=meshed'], '--gateway-tcp: "meshed" must not be meshed if'],
      [['--gateway-access=closed'], 'Allowed choices are open, exported, clients.'],
    ])('refuses %j', async (flags, message) => {
      const { code, stderr } = await run('upgrade', ...flags);
      expect(stderr).toContain(message);
      expect(code).toBe(2);
    });

    test('gets the rights for a flat network by a flag, and loses them by it', { timeout: 30_000 }, async () => {
      const role = objectRef('rbac.authorization.k8s.io/v1', 'Role', 'linkspan-operator', 'linkerd');
      await run('upgrade', '--flat', '--apply');
      expect(await east.client.get(role)).toBeDefined();
      const kept = await run('upgrade', '--apply');
      expect(kept.stdout).not.toContain('deleted');
      const { code, stdout, stderr } = await run('upgrade', '--flat=false', '--wait=false', '--apply');
      expect(code, stderr).toBe(0);
      expect(stdout).toContain('role/linkspan-operator deleted in east\n');
      expect(await east.client.get(role)).toBeUndefined();
    });

    test('gets the right to create namespaces by a flag, and keeps it (H6, L278)', { timeout: 30_000 }, async () => {
      const role = objectRef('rbac.authorization.k8s.io/v1', 'ClusterRole', 'linkspan-operator');
      const namespaces = async () => {
        const { rules } = (await east.client.get(role)) as unknown as {
          readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
        };
        return rules.filter(({ resources }) => resources.includes('namespaces')).flatMap(({ verbs }) => verbs);
      };
      expect(await namespaces()).toEqual(['list', 'watch']);
      await run('upgrade', '--grant-namespace-creation', '--apply');
      await run('upgrade', '--apply');
      expect((await namespaces()).toSorted()).toEqual(['create', 'get', 'list', 'patch', 'watch']);
      await run('upgrade', '--grant-namespace-creation=false', '--wait=false', '--apply');
      expect(await namespaces()).toEqual(['list', 'watch']);
    });

    test('keeps rights that pods may use until those of the new settings run', { timeout: 30_000 }, async () => {
      const role = objectRef('rbac.authorization.k8s.io/v1', 'Role', 'linkspan-operator', 'linkerd');
      await run('upgrade', '--flat', '--apply');
      const { code, stderr } = await run('upgrade', '--flat=false', '--timeout=1s', '--apply');
      expect(code).toBe(1);
      expect(stderr).toContain('0 of 2 pods are up, after 1 s');
      expect(await east.client.get(role)).toBeDefined();
      await run('upgrade', '--wait=false', '--apply');
      expect(await east.client.get(role)).toBeUndefined();
    });

    test('loses what an earlier version has made, and nothing of others', async () => {
      const made = { ...ref('v1', 'ConfigMap', 'of-an-earlier-version'), data: { a: 'b' } };
      const label = { 'app.kubernetes.io/managed-by': 'linkspan' };
      await east.client.apply({ ...made, metadata: { ...made.metadata, labels: label } } as ObjectRef);
      const theirs = ref('v1', 'ConfigMap', 'theirs');
      await east.client.apply(theirs);
      await record({ version: '0.0.9' });

      const shown = await run('upgrade');
      expect(shown.stderr).toContain(
        `note: east has Linkspan 0.0.9, and this is 0.1.0\nnote: the image stays ${IMAGE}: name that of 0.1.0 with --image\n`,
      );
      expect(shown.stdout).toContain('- ConfigMap linkerd-multicluster/of-an-earlier-version\n');
      expect(await east.client.get(made)).toBeDefined();

      const { stdout } = await run('upgrade', '--apply');
      expect(stdout).toContain('configmap/of-an-earlier-version deleted in east\n');
      expect(await east.client.get(made)).toBeUndefined();
      expect(await east.client.get(theirs)).toBeDefined();
      expect((await east.client.get<KubeObject & { data: object }>(RECORD))?.data).toMatchObject({ version: '0.1.0' });
    });

    test.each<[string, object, readonly string[], number, string]>([
      [
        'of a newer version',
        { version: '9.0.0' },
        [],
        1,
        'Linkspan of east: was installed in version 9.0.0, which is newer than this one, 0.1.0 (use linkspan 9.0.0 or later)',
      ],
      [
        'whose record is broken',
        { settings: '[]' },
        [],
        1,
        'ConfigMap linkerd-multicluster/linkspan-install of east: cannot be read: it has no version, or no settings (delete it with `kubectl --kubeconfig ',
      ],
      ['with an invalid image', {}, ['--image=not an image'], 2, '--image: "not an image" must be'],
      ['with a namespace that is not there', {}, ['--linkerd-namespace=nope'], 1, 'Namespace nope of east: not found'],
    ])('is not upgraded %s', async (_, data, flags, code, message) => {
      await record(data);
      const outcome = await run('upgrade', '--apply', ...flags);
      expect(outcome.stderr).toContain(`error: ${message}`);
      expect(outcome).toMatchObject({ code, stdout: '' });
      expect(await writes()).toEqual([]);
    });
  });
});

test.each([
  ['0.1.0', '0.1.0', false],
  ['0.2.0', '0.10.0', false],
  ['1.0.0', '0.9.9', true],
  ['0.1.1-rc.1', '0.1.0', true],
])('%s is newer than %s: %s', (version, than, expected) => {
  expect(isNewer(version, than)).toBe(expected);
});
