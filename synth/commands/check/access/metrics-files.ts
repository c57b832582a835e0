/** Metrics of the gateway's proxies that somebody else has got, in files. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { CommandError, ExitCode } from '../../common/command-error.ts';
import { isRead, readMetrics, type Section } from './usage.ts';

/**
 * Reads all files, keeping what is looked at: those of a gateway of many Services are long.
 * @throws CommandError if a file cannot be read, or has no metrics of a proxy
 */
export const readMetricsFiles = async (files: readonly string[]): Promise<readonly Section[]> =>
  (await Promise.all(files.map(readFile))).flat();

const readFile = async (file: string): Promise<readonly Section[]> => {
  const lines: string[] = [];
  try {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      if (isRead(line)) lines.push(line);
    }
  } catch (error) {
    throw unusable(file, `cannot be read: ${(error as Error).message}`);
  }
  if (lines.length === 0) throw unusable(file, "has no metrics of Linkerd's proxy");
  return readMetrics(lines);
};

const unusable = (file: string, reason: string): CommandError => {
  const remedy = 'write it by linkerd diagnostics proxy-metrics';
  return new CommandError([{ object: `--gateway-metrics ${file}`, reason, remedy }], ExitCode.usage);
};
