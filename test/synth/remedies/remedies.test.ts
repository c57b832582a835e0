/** How remedies are found in messages, what makes a dry run of them, and that a wrong one is found. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onReal } from '../../cluster/on-each-backing.ts';
import { namespace, service } from '../../support/builders.ts';
import { TwoClusters } from '../../support/two-clusters.ts';
import { commandsIn, dry, printedText } from './command-line.ts';
import { attempt, failureOf } from './remedies.ts';
import { summaryOf } from './summary.ts';

test.each<[string, readonly string[]]>([
  ['error: Link a/b of east: is there (linkspan unlink --name b --apply)', ['linkspan unlink --name b --apply']],
  [
    'error: a: not found (make it with `linkspan allow --apply`, or `kubectl apply -f x`)',
    ['linkspan allow --apply', 'kubectl apply -f x'],
  ],
  ['× export  no label\n          kubectl -n shop label service a b=c\n', ['kubectl -n shop label service a b=c']],
  ['      → linkspan crds | kubectl apply -f -', ['linkspan crds | kubectl apply -f -']],
  ['error: it (see whether kubectl works)', []],
  ['Linkspan is installed; linkspan link gives it a target', []],
  [
    "run `linkspan link --context 'a b' --apply`, with --to-context and the context of west",
    ["linkspan link --context 'a b' --apply --to-context 'a b'"],
  ],
  ['`linkspan link --context east` with --to-context gives', ['linkspan link --context east --to-context east']],
  ['`linkspan install --apply`, with --image and your image', ['linkspan install --apply --image example/linkspan:1']],
])('in %j', (text, commands) => {
  expect(commandsIn(text)).toEqual(commands);
});

test('in JSON, strings are read as they are', () => {
  const command = `kubectl patch link west '--patch={"spec":{}}'`;
  const printed = JSON.stringify({ findings: [{ remedy: `change it: \`${command}\`` }] });
  expect(commandsIn(printedText(printed))).toEqual([command]);
  expect(printedText('[east] is not JSON')).toBe('[east] is not JSON');
});

test.each([
  ['kubectl --context east delete secret x', 'kubectl --context east delete secret x --dry-run=server'],
  ["kubectl --context 'delete it' get link delete", "kubectl --context 'delete it' get link delete"],
  ["kubectl --context 'get it' -n x delete link y", "kubectl --context 'get it' -n x delete link y --dry-run=server"],
  ['kubectl -n x rollout restart deployment/y', 'kubectl -n x get deployment/y'],
  ['linkspan unlink --name b --apply', 'linkspan unlink --name b'],
  ['linkspan synth --file x', 'linkspan synth --file x --check'],
  ['linkspan crds | kubectl apply -f -', 'linkspan crds | kubectl apply -f - --dry-run=server'],
  ['kubectl drain node', undefined],
])('the dry run of %s', (command, expected) => {
  expect(dry(command)).toBe(expected);
});

test.each<[string, string, RegExp | undefined]>([
  ['kubectl delete service/web', 'service "web" deleted (server dry run)', undefined],
  ['kubectl delete services --all', 'service "web" deleted (server dry run)', /deletes more than it names: web/],
  ['kubectl delete service/web-1', 'service "web" deleted (server dry run)', /deletes more than it names: web/],
  ['kubectl delete namespace shop', 'namespace "shop" deleted (server dry run)', /deletes all that is in it: shop/],
  ['linkspan install --apply', '', /needs --image/],
])('of %s that prints %j', (command, output, expected) => {
  const failure = failureOf(command, 0, output);
  expect(failure).toEqual(expected === undefined ? undefined : expect.stringMatching(expected));
});

test('the summary counts each kind once, and says why one was not typed', () => {
  const log = [
    { kind: 'a', command: 'a 1' },
    { kind: 'a', command: 'a 2' },
    { kind: 'b', command: 'b', failure: 'exit code 1' },
    { kind: 'c', command: 'c', skipped: 'waits for somebody else' },
  ];
  expect(summaryOf(log)).toBe('Remedies: 2 typed; 1 not run: waits for somebody else');
});

onReal('a remedy', () => {
  let clusters: TwoClusters;
  let at: string;

  beforeAll(async () => {
    clusters = await TwoClusters.start({ backing: 'real' });
    const { kubeconfigFile, name } = clusters.eastCluster;
    at = `--kubeconfig ${kubeconfigFile} --context ${name}`;
    await clusters.east.apply(namespace('shop'));
    for (const name of ['web', 'db']) await clusters.east.apply(service(name));
  });
  afterAll(() => clusters.stop());

  const failure = async (command: string): Promise<string | undefined> => (await attempt(command, '.')).failure;

  test('that works changes nothing', async () => {
    expect(await failure(`kubectl ${at} -n shop delete service/web`)).toBeUndefined();
    expect(await failure(`linkspan status ${at}`)).toBeUndefined();
    expect(await clusters.east.get(service('web'))).toBeDefined();
  });

  describe('is found wrong', () => {
    test.each<[string, () => string, RegExp]>([
      ['an unknown flag', () => `linkspan status --nope ${at}`, /unknown option '--nope'/],
      ['a context that is not there', () => `linkspan status ${at}-not`, /has no context/],
      ['no target', () => `linkspan link ${at}`, /required option '--to-context/],
      ['more deleted than named', () => `kubectl ${at} -n shop delete services --all`, /deletes more than it names: /],
      ['refused by the server', () => `kubectl ${at} -n shop delete service/nope`, /exit code 1.*"nope" not found/s],
      ['an unquoted word', () => `kubectl ${at} -n shop get service a(b`, /exit code 2/],
      ['no dry run', () => 'kubectl drain node', /without changing anything/],
    ])('%s', async (_, command, expected) => {
      expect(await failure(command())).toMatch(expected);
    });
  });
});
