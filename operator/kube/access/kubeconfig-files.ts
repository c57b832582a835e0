/**
 * Which files a kubeconfig is made of, and what they say together: kubectl's loading rules. Of several files the first
 * that has a cluster, user or context of a name wins, the first that sets a current context sets it, and a file that is
 * missing or empty is skipped, unless it is the one that was named.
 */
import { accessSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { TerminalError } from '../errors.ts';
import { type KubeconfigFile, parseKubeconfigFile } from './kubeconfig-file.ts';
import { parseErrorText } from './parse-error-text.ts';

/** All files of a kubeconfig in one. */
export interface MergedKubeconfig extends KubeconfigFile {
  /** Where it comes from, for messages. */
  readonly origin: string;
}

/**
 * Reads and merges the files of a kubeconfig.
 * @param named path of the one file to use. @default those of $KUBECONFIG, else ~/.kube/config
 * @throws TerminalError `InvalidKubeconfig`, with the file and what is wrong with it
 */
export function readKubeconfig(named: string | undefined): MergedKubeconfig {
  if (named !== undefined && named !== '') return merged(`kubeconfig ${named}`, [readFile(named)]);
  const listed = process.env['KUBECONFIG'];
  if (listed !== undefined && listed !== '') {
    const paths = [...new Set(listed.split(delimiter))].filter((path) => path !== '');
    const there = paths.filter(isThere);
    if (there.length > 0) return merged(`kubeconfig ${listed} (from KUBECONFIG)`, there.map(readFile));
    throw invalid(
      `no kubeconfig: KUBECONFIG names ${paths.join(', ') || 'no file'}, which is not there; use --kubeconfig`,
    );
  }
  const homes = [process.env['HOME'] ?? '', homedir()].map((home) => join(home, '.kube', 'config'));
  const usual = homes.find(isThere);
  // kubectl would ask http://localhost:8080.
  if (usual === undefined) {
    throw invalid(
      `no kubeconfig: not in a cluster, KUBECONFIG is not set, and there is no ${homes[0] ?? ''}; use --kubeconfig`,
    );
  }
  return merged(`kubeconfig ${usual}`, [readFile(usual)]);
}

/** Not whether it can be read: that of a file that cannot is an error. */
const isThere = (path: string): boolean => {
  try {
    accessSync(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
  return true;
};

function readFile(path: string): KubeconfigFile {
  try {
    return parseKubeconfigFile(readFileSync(path, 'utf8'), path);
  } catch (error) {
    throw invalid(`kubeconfig ${path} cannot be read: ${parseErrorText(error)}`);
  }
}

const merged = (origin: string, files: readonly KubeconfigFile[]): MergedKubeconfig => {
  const first = <T>(of: (file: KubeconfigFile) => ReadonlyMap<string, T>): ReadonlyMap<string, T> => {
    const all = new Map<string, T>();
    for (const file of files) for (const [name, value] of of(file)) if (!all.has(name)) all.set(name, value);
    return all;
  };
  return {
    origin,
    clusters: first(({ clusters }) => clusters),
    users: first(({ users }) => users),
    contexts: first(({ contexts }) => contexts),
    currentContext: files.find(({ currentContext }) => currentContext !== '')?.currentContext ?? '',
  };
};

/** @param message what is wrong, and what to do */
export const invalid = (message: string): TerminalError => new TerminalError('InvalidKubeconfig', message);
