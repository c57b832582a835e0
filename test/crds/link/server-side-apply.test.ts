/**
 * Links by server-side apply, as Argo CD and `linkspan link --apply` write them, over every other one: each selector is
 * the one that was applied, whoever wrote the Link before, how, and under which CRD. Applied over each other, selectors that
 * merge field by field are joined, or refused as null where one becomes empty.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Link, type LinkProps } from '../../../constructs/index.ts';
import { render } from '../../../constructs/rendered/render.ts';
import { linkCrd } from '../../../crds/link/definition.ts';
import { LinkApi } from '../../../crds/wire.ts';
import { borrowCluster, type TestCluster } from '../../cluster/index.ts';
import { onBothBackings } from '../../cluster/on-each-backing.ts';
import { api, type Api, eventually, installCrd, type KubeObject } from '../../cluster/workload/index.ts';
import { namespace } from '../../support/builders.ts';
import { linkerdLinkCrd } from '../../support/linkerd-crd.ts';

interface Selectors {
  readonly selector: object | undefined;
  readonly remoteDiscoverySelector: object | undefined;
  readonly federatedServiceSelector: object | undefined;
}
type RenderedLink = KubeObject & { readonly spec: Selectors & { readonly federation?: string } };

const link = (props: Partial<LinkProps>): RenderedLink =>
  render((chart) => {
    new Link(chart, 'link', { targetCluster: 'west', namespace: 'mesh', ...props });
  })[0] as unknown as RenderedLink;

const gatewayAddresses = ['203.0.113.7'];
const NEVER = {};

/** The Links that constructs and commands render, by their mode. */
const LINKS: Readonly<Record<string, RenderedLink>> = {
  "Linkerd's defaults": link({ gatewayAddresses }),
  'through the gateway': link({ gatewayAddresses, remoteDiscoverySelector: NEVER, federation: 'gateway' }),
  flat: link({ selector: NEVER }),
  'nothing at all': link({ selector: NEVER, remoteDiscoverySelector: NEVER, federatedServiceSelector: NEVER }),
  'by a label of a team': link({
    gatewayAddresses,
    selector: { matchLabels: { team: 'shop' } },
    federatedServiceSelector: { matchLabels: { team: 'shop', federated: 'yes' } },
  }),
  'by expressions': link({
    gatewayAddresses,
    selector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['shop'] }] },
    remoteDiscoverySelector: { matchExpressions: [{ key: 'flat', operator: 'Exists' }] },
  }),
};
const PAIRS = Object.keys(LINKS).flatMap((before) => Object.keys(LINKS).map((after) => [before, after] as const));

/** Links in each of the versions, as older tools write them. */
const VERSIONS = ['v1alpha1', 'v1alpha2', LinkApi.version];

const named = (object: RenderedLink, name: string): RenderedLink => ({
  ...object,
  metadata: { ...object.metadata, name },
});

/** Linkerd's CRD has no field `federation`. */
const asLinkerdKnowsIt = (object: RenderedLink): RenderedLink => {
  const { federation: _, ...spec } = object.spec;
  return { ...object, spec };
};

const selectorsOf = ({ spec }: RenderedLink): Selectors => {
  const { selector, remoteDiscoverySelector, federatedServiceSelector } = spec;
  return { selector, remoteDiscoverySelector, federatedServiceSelector };
};

onBothBackings('a Link that is applied server-side (E5)', (backing) => {
  let cluster: TestCluster;
  let client: Api;
  beforeAll(async () => {
    cluster = await borrowCluster(backing, 'east');
    client = api(cluster);
    await client.apply(namespace('mesh'));
  });
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  /** Applies the second of each pair over what was written of the first, and compares the selectors. */
  const expectReplaced = async (
    write: (first: RenderedLink) => Promise<unknown>,
    { between, fieldManager = 'argocd-controller' }: { between?: () => Promise<void>; fieldManager?: string } = {},
  ): Promise<void> => {
    for (const [index, [before]] of PAIRS.entries()) {
      const first = named(LINKS[before]!, `link-${index}`);
      await client.delete(first);
      await write(first);
    }
    await between?.();
    const wrong: Record<string, unknown> = {};
    for (const [index, [before, after]] of PAIRS.entries()) {
      const second = named(LINKS[after]!, `link-${index}`);
      try {
        const found = selectorsOf(await client.apply<RenderedLink>(second, { fieldManager }));
        expect(found).toEqual(selectorsOf(second));
        // Stored alike, and again no change.
        expect(selectorsOf((await client.get<RenderedLink>(second))!)).toEqual(found);
      } catch (error) {
        wrong[`${before} → ${after}`] = (error as Error).message;
      }
    }
    expect(wrong).toEqual({});
  };

  /** Our CRD in the place of the other, once the API server merges by it. */
  const ours = async (): Promise<void> => {
    await installCrd(cluster, linkCrd);
    const probe = named(LINKS["Linkerd's defaults"]!, 'probe');
    await client.delete(probe);
    await client.apply(probe, { fieldManager: 'one' });
    const other = named(LINKS['by a label of a team']!, 'probe');
    await eventually('the new CRD decides how Links merge', async () => {
      const { spec } = await client.apply<RenderedLink>(other, { fieldManager: 'two' });
      if (JSON.stringify(spec.selector) === JSON.stringify(other.spec.selector)) return true;
      await client.apply(probe, { fieldManager: 'one' });
      return false;
    });
  };

  it('replaces the selectors of one that it applied itself', async () => {
    await ours();
    await expectReplaced((first) => client.apply(first, { fieldManager: 'argocd-controller' }));
  });

  it('replaces the selectors of one that another manager applied, of any version', async () => {
    await ours();
    for (const version of VERSIONS) {
      const apiVersion = `${LinkApi.group}/${version}`;
      await expectReplaced((first) => client.apply({ ...first, apiVersion }, { fieldManager: 'helm' }));
    }
  });

  it('replaces the selectors of one that kubectl created, and that kubectl then changed', async () => {
    await ours();
    await expectReplaced((first) => client.create(first, { fieldManager: 'kubectl-client-side-apply' }));
    await expectReplaced(async (first) => {
      await client.create(first, { fieldManager: 'kubectl-client-side-apply' });
      await client.patch(
        first,
        { spec: { selector: { matchLabels: { edited: 'yes' } } } },
        { fieldManager: 'kubectl-edit' },
      );
    });
  });

  it("replaces the selectors of one that was written under Linkerd's CRD, by whatever manager", async () => {
    const writes: readonly ((first: RenderedLink) => Promise<unknown>)[] = [
      (first) => client.apply(first, { fieldManager: 'helm' }),
      (first) => client.apply(first, { fieldManager: 'argocd-controller' }),
      (first) => client.create(first, { fieldManager: 'kubectl-client-side-apply' }),
    ];
    for (const write of writes) {
      await installCrd(cluster, linkerdLinkCrd);
      await expectReplaced((first) => write(asLinkerdKnowsIt(first)), { between: ours });
    }
  });
});
