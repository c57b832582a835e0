/** Federated Services and ServiceImports that the cluster of a suspended Link has a part in. */
import { afterEach, describe, expect, it } from 'vitest';
import { serviceExportCrd, serviceImportCrd } from '../../../crds/index.ts';
import type { Tuning } from '../../../operator/config/tuning.ts';
import { Manager } from '../../../operator/link/manager.ts';
import type { EventRecorder } from '../../../operator/runtime/events.ts';
import { Interruptions } from '../../../operator/runtime/interruptions.ts';
import type { SimulatedCluster } from '../../cluster/simulated/start.ts';
import { eventually } from '../../cluster/workload/eventually.ts';
import { installCrd, type ObjectRef } from '../../cluster/workload/index.ts';
import { credentials, link, LINKS_NAMESPACE, namespace, service } from '../../support/builders.ts';
import { discoveryCredentials } from '../../support/full-mesh.ts';
import { linkerds } from '../federation/observed.ts';
import { observed, settled, target } from '../mcs/observed.ts';
import { Stage, startTarget } from './stage.ts';

const MCS = 'multicluster.x-k8s.io/v1beta1';
const MEMBERS = { matchLabels: { 'mirror.linkerd.io/federated': 'member' } };
const PORT = { name: 'http', port: 81, protocol: 'TCP', targetPort: 8080 };
const SUSPENDED = { annotations: { 'linkspan.dev/suspended': 'true' } };

describe('the cluster of a Link that was suspended before the operator started (H9)', () => {
  let stage: Stage;
  let stop: AbortController;
  let running: Promise<void>;
  /** The target of the other Link, where it has one that answers. */
  let north: SimulatedCluster | undefined;
  afterEach(async () => {
    stop.abort();
    await running;
    await stage.stop();
    await north?.stop();
    north = undefined;
  });

  /** Starts an operator beside a suspended Link and another one, over what is there. */
  const start = async (spec: object, prepare: () => void | Promise<void>, tuning: Tuning = {}): Promise<void> => {
    stage = await Stage.start({ tuning });
    // The Link that is served is the older one, or has the first name.
    stage.put(link('north', { probeSpec: undefined, serviceExports: false }));
    stage.put(link('west', { probeSpec: undefined, ...spec }, SUSPENDED));
    await prepare();
    stop = new AbortController();
    const { client, config, metrics, log, mayWrite, hasCeased } = stage;
    const events = { record: () => undefined } as unknown as EventRecorder;
    const rest = { tuning: stage.tuning, mayWrite, hasCeased, interruptions: new Interruptions() };
    running = new Manager({ client, config, metrics, log, events, ...rest }).run(stop.signal);
  };
  const remove = (apiVersion: string, kind: string, namespace: string, name: string): void =>
    void stage.east.store.delete(apiVersion, kind, namespace, name);
  const unlink = (): void => remove('multicluster.linkerd.io/v1alpha3', 'Link', LINKS_NAMESPACE, 'west');
  const annotations = (name: string): Readonly<Record<string, string>> | undefined =>
    (stage.east.store.get('v1', 'Service', 'shop', name) as Annotated | undefined)?.metadata.annotations;

  describe('in a federated Service that names no operator (I9, L110)', () => {
    const here = service('web', { labels: MEMBERS.matchLabels });
    const entries = (): string => {
      const { 'multicluster.linkerd.io/remote-discovery': remote, 'multicluster.linkerd.io/local-discovery': own } =
        annotations('web-federated') ?? {};
      return [remote, own].join(' ');
    };
    const put = (federated: object): void =>
      stage.put({ ...federated, apiVersion: 'v1', kind: 'Service' } as ObjectRef);

    it.each<[string, object]>([
      ['a Link that selects members', { federatedServiceSelector: MEMBERS }],
      ['one that selects none any more', {}],
      ['an invalid one', { gatewayPort: 'none' }],
    ])('has a part for this operator, and local Services come and go: %s', async (_, spec) => {
      await start(spec, () => {
        put(linkerds('web@west'));
        stage.put(here);
      });
      await eventually('the local one joins', async () => entries() === 'web@west web');
      remove('v1', 'Service', 'shop', 'web');
      await eventually('the local one leaves', async () => entries() === 'web@west ');
      unlink();
      await eventually('what is left goes with the Link', async () => annotations('web-federated') === undefined);
    });
  });

  it('keeps no federated Service from following the member of an older Link (I3, L135)', async () => {
    await start({ federatedServiceSelector: MEMBERS }, async () => {
      north = await startTarget();
      north.store.upsert({ ...service('web', { labels: MEMBERS.matchLabels, ports: [PORT] }) });
      stage.put(link('north', { probeSpec: undefined, serviceExports: false, federatedServiceSelector: MEMBERS }));
      stage.put(namespace('linkerd'));
      stage.put(credentials('north', north.kubeconfig));
      stage.put(discoveryCredentials('north'));
      stage.put({ ...linkerds('web@north,web@west'), apiVersion: 'v1', kind: 'Service' });
    });
    const found = (): string => {
      const federated = stage.east.store.get('v1', 'Service', 'shop', 'web-federated') as unknown as Annotated & {
        readonly spec: { readonly ports: readonly { readonly port: number }[] };
      };
      const remote = federated.metadata.annotations?.['multicluster.linkerd.io/remote-discovery'] ?? '';
      return [...federated.spec.ports.map(({ port }) => port), remote].join(' ');
    };
    await eventually('it has the new port', async () => found() === '81 web@north,web@west');
  });

  describe('in a ServiceImport that names no operator (K7, L111)', () => {
    const [{ live, derived, imported }] = settled(observed([target('west')]));
    const unmarked = (object: object | undefined, apiVersion: string, kind: string): ObjectRef => {
      const { metadata, ...rest } = object as Annotated;
      const { 'linkspan.dev/operator': _, ...others } = metadata.annotations ?? {};
      return { ...rest, apiVersion, kind, metadata: { ...metadata, annotations: others } } as ObjectRef;
    };
    const named = () => annotations('web-clusterset')?.['linkspan.dev/operator'];

    it.each([{}, { serviceExports: false }])(
      'has a part for this operator, which goes with the Link: %j',
      async (spec) => {
        await start(spec, async () => {
          for (const crd of [serviceExportCrd, serviceImportCrd]) await installCrd(stage.east, crd);
          stage.put(unmarked(live, MCS, 'ServiceImport'));
          stage.put(unmarked(derived, 'v1', 'Service'));
          for (const each of imported) stage.put(unmarked(each, 'discovery.k8s.io/v1', 'EndpointSlice'));
        });
        await eventually('it names the operator', async () => named() === LINKS_NAMESPACE);
        expect(stage.east.store.list('discovery.k8s.io/v1', 'EndpointSlice', 'shop')).toHaveLength(imported.length);
        unlink();
        await eventually('it goes with the Link', async () => {
          const left = stage.east.store.get(MCS, 'ServiceImport', 'shop', 'web');
          return left === undefined && annotations('web-clusterset') === undefined;
        });
      },
    );

    it('goes from one of this operator once no Link has named the cluster for a while (K5, L166)', async () => {
      const putAll = (): void => {
        stage.put({ ...live!, apiVersion: MCS, kind: 'ServiceImport' });
        stage.put({ ...derived!, apiVersion: 'v1', kind: 'Service' });
        for (const each of imported) stage.put({ ...each, apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' });
      };
      const prepare = async (): Promise<void> => {
        for (const crd of [serviceExportCrd, serviceImportCrd]) await installCrd(stage.east, crd);
        putAll();
        unlink();
      };
      await start({}, prepare, { returnGraceMs: 300 });
      await eventually('it is gone', async () => {
        const left = stage.east.store.get(MCS, 'ServiceImport', 'shop', 'web');
        return left === undefined && annotations('web-clusterset') === undefined;
      });
      expect(stage.lines).toContain('info the cluster has no Link any more: its part ends');
    });
  });
});

interface Annotated extends ObjectRef {
  readonly metadata: ObjectRef['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
}
