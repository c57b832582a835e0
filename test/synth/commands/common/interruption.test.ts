/** What a signal does to a command that writes to clusters. */
import { afterEach, expect, test, vi } from 'vitest';
import { CommandError } from '../../../../synth/commands/common/command-error.ts';
import { stopIfAsked, toItsEnd, uninterrupted } from '../../../../synth/commands/common/interruption.ts';

const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(() => true);

afterEach(() => stderr.mockClear());

const problem = (): unknown => {
  try {
    stopIfAsked('Link west');
    return undefined;
  } catch (error) {
    return error instanceof CommandError ? [error.message, error.code] : error;
  }
};

const STOPPED = (signal: string, code: number): readonly unknown[] => [
  `${signal}: stopped before Link west (run the command again: it goes on from here)`,
  code,
];

test.each([
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s stops it where it may stop, with exit code %i', async (signal, code) => {
  const before = process.listenerCount(signal);
  await uninterrupted(async () => {
    expect(problem()).toBeUndefined();
    process.emit(signal, signal);
    await Promise.resolve();
    expect(problem()).toEqual(STOPPED(signal, code));
  });
  expect(problem()).toBeUndefined();
  expect(process.listenerCount(signal)).toBe(before);
});

test('what must be done to its end is not stopped, and what comes after it is', async () => {
  await uninterrupted(async () => {
    process.emit('SIGTERM', 'SIGTERM');
    await toItsEnd(async () => {
      await Promise.resolve();
      expect(problem()).toBeUndefined();
    });
    expect(problem()).toEqual(STOPPED('SIGTERM', 143));
    await expect(toItsEnd(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    expect(problem()).toEqual(STOPPED('SIGTERM', 143));
  });
});

test('a second signal ends the process, also in what must be done to its end', async () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  await uninterrupted(() =>
    toItsEnd(async () => {
      process.emit('SIGINT', 'SIGINT');
      process.emit('SIGINT', 'SIGINT');
      await Promise.resolve();
    }),
  );
  expect(exit).toHaveBeenCalledExactlyOnceWith(130);
  exit.mockRestore();
});
