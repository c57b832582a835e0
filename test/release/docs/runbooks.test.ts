/** docs/runbooks.md has a section for each alert, and the commands in it run. */
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { render } from '../../../constructs/rendered/render.ts';
import { ALERT_RULES, alertName, runbookUrl } from '../../../constructs/monitoring/alert-rules.ts';
import { Alerts } from '../../../constructs/monitoring/alerts.ts';
import { MirrorOperator } from '../../../constructs/operator/mirror-operator.ts';
import { onReal } from '../../cluster/on-each-backing.ts';
import { requireBinary } from '../../cluster/real/binaries.ts';
import { eventually } from '../../cluster/workload/index.ts';
import { mergedKubeconfig } from '../../../tools/demo/kubeconfig.ts';
import { EXPORTED, LINKS_NAMESPACE, service } from '../../support/builders.ts';
import { TwoClusters } from '../../support/two-clusters.ts';
import { blocksOf, type CommandBlock } from '../examples/readme.ts';
import { LINK } from './spec-link.ts';
import { shell } from '../packaging/packed.ts';

const PAGE = 'docs/runbooks.md';
const blocks: readonly CommandBlock[] = await blocksOf(PAGE);
const alerts = Object.keys(ALERT_RULES);

test('there is a runbook for each alert, and for nothing else, with commands to look by', () => {
  const sections = [...new Set(blocks.map(({ heading }) => heading))];
  expect(sections).toEqual(['Where to look first', ...alerts.map(alertName)]);
});

test('each alert leads to its runbook, of this version, where the repository is', () => {
  const [rule] = render((chart) => {
    new Alerts(chart, 'alerts');
  });
  const repository = manifest.repository.url.replace(/^git\+|\.git$/g, '');
  const urls = alerts.map((name) => `${repository}/blob/v${manifest.version}/${PAGE}#${alertName(name).toLowerCase()}`);
  expect(alerts.map(runbookUrl)).toEqual(urls);
  expect([...JSON.stringify(rule).matchAll(/"runbook_url":"([^"]*)"/g)].map(([, url]) => url)).toEqual(urls);
});

/** Reasons of a condition that is true; any other may be that of `Ready` (docs/spec/link.md). */
const WELL = new Set([
  ...['Ready', 'SomeNotMirrored', 'SomeNotJoined', 'Accepted', 'Valid', 'Connected', 'NothingSelected', 'WithinLimits'],
  ...['Resolved', 'NoGateway', 'ProbeSucceeded', 'NotProbed', 'Synced', 'NothingHeld'],
]);

test.each(['LinkNotReady', 'CredentialsInvalid'] as const)(
  'the runbook of %s names each reason that it can have',
  async (alert) => {
    const page = await readFile(new URL(`../../../${PAGE}`, import.meta.url), 'utf8');
    const section = page.split(`\n## ${alertName(alert)}\n`)[1]?.split('\n## ')[0] ?? '';
    const named = [...section.matchAll(/`(\w+)(…?)`/g)].map(([, word = '', more]) => ({ word, isStart: more !== '' }));
    const reasons = LINK.conditions
      .filter(({ type }) =>
        alert === 'LinkNotReady' ? !['PruneHeld', 'Mirrored'].includes(type) : type === 'CredentialsValid',
      )
      .flatMap((each) => Object.keys(each.reasons))
      .filter((reason) => !WELL.has(reason) && (alert === 'LinkNotReady' || reason !== 'Pending'));
    expect(reasons.length).toBeGreaterThan(5);
    const isNamed = (reason: string) =>
      named.some(({ word, isStart }) => (isStart ? reason.startsWith(word) : reason === word));
    expect(reasons.filter((reason) => !isNamed(reason))).toEqual([]);
  },
);

/** What the commands show here, where one Service of the target cannot be mirrored. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  'Where to look first': ['SomeNotMirrored', 'InvalidService'],
  LinkspanLinkNotReady: ['Ready=True SomeNotMirrored: 1 of 1 Services are not mirrored: 1 InvalidService'],
  LinkspanCredentialsInvalid: ['cluster-credentials-west'],
  LinkspanGatewayNotAlive: ['service/probe-west', 'endpoints/probe-west'],
  LinkspanMirrorsFailed: ['shop/odd InvalidService: '],
  LinkspanPruneHeld: ['odd ', 'link.multicluster.linkerd.io/west annotated'],
  LinkspanReconcileErrors: ['InvalidService', 'yes'],
  LinkspanNoLeader: ['holderIdentity: ', 'yes'],
  LinkspanOperatorAbsent: ['linkspan-operator', 'networkpolicy.networking.k8s.io/linkspan-operator'],
};

onReal('the commands of the runbooks', () => {
  let clusters: TwoClusters;
  let directory: string;
  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'real' });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-runbooks-'));
    await writeFile(join(directory, 'kubeconfig'), mergedKubeconfig([clusters.eastCluster, clusters.westCluster]));
    await symlink(requireBinary('kubectl'), join(directory, 'kubectl'));
    const deployed = render((chart) => {
      const settings = { image: 'linkspan:test', meshed: false, networkPolicy: { from: [{ podSelector: {} }] } };
      new MirrorOperator(chart, 'operator', { ...settings, namespace: LINKS_NAMESPACE });
    });
    for (const object of deployed) await clusters.east.apply(object);
    await clusters.link();
    clusters.operator();
    await clusters.west.apply(
      service('odd', { labels: EXPORTED, spec: { type: 'ExternalName', externalName: 'odd.example' } }),
    );
    await eventually('it is reported', async () => (await clusters.condition('Ready'))?.reason === 'SomeNotMirrored');
  }, 120_000);
  afterAll(async () => {
    await clusters.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test.each(alerts.map(alertName).concat('Where to look first'))(
    'run, and show what is the matter: %s',
    async (heading) => {
      const env = {
        KUBECONFIG: join(directory, 'kubeconfig'),
        HOME: directory,
        PATH: [directory, dirname(process.execPath), process.env['PATH']].join(delimiter),
      };
      const commands = blocks.filter((block) => block.heading === heading).map((block) => block.commands);
      const { code, stdout, stderr } = await shell(directory, commands.join(''), env);
      expect(code, stderr).toBe(0);
      for (const text of SHOWN[heading] ?? []) expect(stdout).toContain(text);
    },
  );
});
