/** What commands that write print of what became of each object. */
import { afterEach, expect, test, vi } from 'vitest';
import { withReport } from '../../../../synth/commands/common/output.ts';

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
  await withReport(undefined, (report) => report.add(CREATED));
  expect(written()).toBe('secret/token created in west\n');
});

test('a command that fails half-way lists what it has done until then', async () => {
  const failing = withReport('json', async (report) => {
    await report.add(CREATED);
    throw new Error('the token is not there in time');
  });
  await expect(failing).rejects.toThrow('the token is not there in time');
  expect(JSON.parse(written())).toEqual({
    results: [{ context: 'west', kind: 'Secret', namespace: 'mc', name: 'token', outcome: 'created' }],
  });
});
