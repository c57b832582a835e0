/**
 * A lock between processes of one machine, held by a file: its owner touches it while alive, and a file that nobody
 * touches belongs to no one. It spares duplicate work; what it guards must stay correct if two ever hold it at once.
 */
import { randomUUID } from 'node:crypto';
import { link, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './temporary-folder.ts';

const HEARTBEAT_MS = 1_000;
const STALE_AFTER_MS = 15_000;
const POLL_MS = 200;

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

/** A lock that this process holds. */
export class FileLock {
  readonly #path: string;
  readonly #heartbeat: NodeJS.Timeout;

  private constructor(path: string) {
    this.#path = path;
    this.#heartbeat = setInterval(() => {
      const now = new Date();
      utimes(path, now, now).catch(() => undefined);
    }, HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  /**
   * Waits, for as long as it takes, until the lock is ours.
   * @param onWait called once, with the owner's process id, if there is anything to wait for
   */
  static async acquire(path: string, onWait: (owner: string) => void): Promise<FileLock> {
    const claim = `${path}.${randomUUID()}`;
    await writeFile(claim, `${process.pid}`);
    try {
      let told = false;
      for (;;) {
        try {
          // A link appears with its content, or fails if there is one: no moment with an empty lock.
          await link(claim, path);
          return new FileLock(path);
        } catch (error) {
          if (codeOf(error) !== 'EEXIST') throw error;
        }
        const owner = await ownerOf(path);
        if (owner === undefined) continue;
        if (owner.stale) {
          await rm(path, { force: true });
        } else if (!told) {
          told = true;
          onWait(owner.pid);
        }
        await sleep(POLL_MS);
      }
    } finally {
      await rm(claim, { force: true });
    }
  }

  /** Gives the lock back. */
  async release(): Promise<void> {
    clearInterval(this.#heartbeat);
    await rm(this.#path, { force: true });
  }
}

const ownerOf = async (path: string): Promise<{ readonly pid: string; readonly stale: boolean } | undefined> => {
  try {
    const [pid, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    return { pid, stale: !isAlive(Number(pid)) || Date.now() - mtimeMs > STALE_AFTER_MS };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};
