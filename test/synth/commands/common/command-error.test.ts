/** How commands report what stands in their way. */
import { afterEach, expect, test, vi } from 'vitest';
import { CommandError, reportingProblems } from '../../../../synth/commands/common/command-error.ts';
import { waitFor } from '../../../../synth/commands/common/wait.ts';

/** What a status may hold that others write: an order to the terminal, and a line that looks like ours. */
const HOSTILE = 'gone\u001B]0;owned\u0007\nerror: none';

const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);

const written = (): readonly unknown[] => stderr.mock.calls.map(([text]) => text);

afterEach(() => {
  stderr.mockClear();
  process.exitCode = undefined;
});

test('an obstacle is one line without control characters, whatever a cluster says', async () => {
  await reportingProblems(() =>
    Promise.reject(new CommandError([{ object: 'Link a/b of east', reason: HOSTILE, remedy: 'unlink it' }])),
  );
  expect(written()).toEqual(['error: Link a/b of east: gone ]0;owned error: none (unlink it)\n']);
  expect(process.exitCode).toBe(1);
});

test('so is what a command waits for', async () => {
  let looks = 0;
  await waitFor('the Link', () => Promise.resolve((looks += 1) === 1 ? { pending: HOSTILE } : { done: undefined }), {
    timeoutMs: 10_000,
    problem: () => ({ object: '', reason: '', remedy: '' }),
  });
  expect(written()).toEqual(['waiting for the Link: gone ]0;owned error: none\n']);
});
