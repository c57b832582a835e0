/** What commands that write print of what became of each object. */
import { parseYaml } from '../../../../operator/kube/access/yaml.ts';
import { afterEach, expect, test, vi } from 'vitest';
import { CommandError } from '../../../../synth/commands/common/command-error.ts';
import { manifestsText, withReport } from '../../../../synth/commands/common/output.ts';

const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((_text, ...more: readonly unknown[]) => {
  for (const each of more) if (typeof each === 'function') (each as () => void)();
  return true;
});

afterEach(() => stdout.mockClear());

const written = (): string => stdout.mock.calls.map(([text]) => String(text)).join('');

const CREATED = {
  context: 'west',
  object: { kind: 'Secret', metadata: { namespace: 'mc', name: 'token' } },
  outcome: 'created',
} as const;

test('a line is printed for each object at once', async () => {
  await withReport(undefined, [], (report) => report.add(CREATED));
  expect(written()).toBe('secret/token created in west\n');
});

test('a command that would be refused does nothing', async () => {
  const refused = () => Promise.reject(new CommandError([{ object: 'Secret', reason: 'refused', remedy: 'ask' }]));
  const done: string[] = [];
  const command = () => Promise.resolve(void done.push('something'));
  await expect(withReport('json', [() => Promise.resolve(), refused], command)).rejects.toThrow('refused');
  expect([done, written()]).toEqual([[], '']);
});

test('a command that fails half-way lists what it has done until then', async () => {
  const failing = withReport('json', [], async (report) => {
    await report.add(CREATED);
    throw new Error('the token is not there in time');
  });
  await expect(failing).rejects.toThrow('the token is not there in time');
  expect(JSON.parse(written())).toEqual({
    results: [{ context: 'west', kind: 'Secret', namespace: 'mc', name: 'token', outcome: 'created' }],
  });
});

const ESCAPE = String.fromCodePoint(0x1b);
const BREAKS = ['\n', '\r\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029', '\0', ESCAPE];

test.each(BREAKS)('a context with %j in its name stays in its comment of the manifests', (mark) => {
  const context = ['east', '---', 'kind: Namespace', '#'].join(mark);
  const objects = [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'token' } }];
  const text = manifestsText([{ context, purpose: 'the token', objects }], 'yaml');
  expect(text.split(/[\n\r\v\f\u0085\u2028\u2029]/u).slice(0, 3)).toEqual([
    '---',
    '# east --- kind: Namespace #: the token',
    'apiVersion: v1',
  ]);
  expect(parseYaml(text)).toEqual(objects[0]);
});

test('a context with control characters in its name gives no orders to the terminal', async () => {
  await withReport(undefined, [], (report) => report.add({ ...CREATED, context: `we${ESCAPE}]0;x\nst` }));
  expect(written()).toBe('secret/token created in we ]0;x st\n');
});
