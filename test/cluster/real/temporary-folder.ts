/**
 * Temporary folders that carry the process id of their owner in their name, so that a later run tells which of them
 * nobody uses any more: what a process that was killed, and all that watched over it, could not remove.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const OWNED = /^linkspan-.+-(\d+)-\w{6}$/;

let isTidy = false;

/** A new folder of this process. The first one of a process also removes the folders of processes that have died. */
export const temporaryFolder = (name: string): string => {
  if (!isTidy) removeAbandoned(tmpdir());
  isTidy = true;
  return mkdtempSync(join(tmpdir(), `linkspan-${name}-${process.pid}-`));
};

/** Removes the folders in a directory whose owners have died; one that cannot be removed stays. */
export const removeAbandoned = (directory: string): void => {
  for (const entry of readdirSync(directory)) {
    const owner = OWNED.exec(entry)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    try {
      rmSync(join(directory, entry), { recursive: true, force: true });
    } catch {
      // It is another user's, or somebody else removes it too.
    }
  }
};

/** Whether there is a process of this id, ours or not. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};
