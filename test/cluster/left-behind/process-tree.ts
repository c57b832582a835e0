/** The processes of this machine, as `ps` shows them, and which of them descend from which. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A process that has not ended. */
export interface Listed {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** All processes. */
export const processes = async (): Promise<readonly Listed[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,stat=,args='], { maxBuffer: 2 ** 24 });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, state, command] = /^ *(\d+) +(\d+) +(\S+) +(.*)$/.exec(line) ?? [];
    // Nobody has asked yet how a zombie ended.
    return command === undefined || state!.startsWith('Z')
      ? []
      : [{ pid: Number(pid), parent: Number(parent), command }];
  });
};

/** All that descend from a process, each after its parent. */
export const descendantsOf = (pid: number, all: readonly Listed[]): readonly Listed[] =>
  all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...descendantsOf(child.pid, all)]);
