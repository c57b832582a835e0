/** How commands report what stands in their way. */
import { afterEach, expect, test, vi } from 'vitest';
import { ApiError, ConnectionError } from '../../../../operator/kube/errors.ts';
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

/** What a cluster has said to a command. */
const refused = (cause: Error): CommandError =>
  new CommandError([{ object: 'east', reason: cause.message, remedy: 'wait' }], 1, cause);
const away = refused(new ConnectionError('connect ECONNREFUSED 192.0.2.1:6443'));
const busy = refused(new ApiError(503, { message: 'busy' }, 'get Link a/b'));
const forbidden = refused(new ApiError(403, { message: 'no' }, 'get Link a/b'));
const WAIT = { timeoutMs: 10_000, problem: () => ({ object: '', reason: '', remedy: '' }) };

test.each([
  ['away', away],
  ['busy', busy],
])('a server that is %s for a moment is waited for', async (_, error) => {
  let looks = 0;
  const look = () => ((looks += 1) === 1 ? Promise.reject(error) : Promise.resolve({ done: 'there' }));
  expect(await waitFor('the Link', look, WAIT)).toBe('there');
});

test('one that refuses is not', async () => {
  await expect(waitFor('the Link', () => Promise.reject(forbidden), WAIT)).rejects.toBe(forbidden);
});
