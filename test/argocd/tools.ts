/**
 * The Argo CD that the suite runs against: one program, built from the Go module beside this file, and the manifests
 * that this module has for those who install it. Redis is the machine's own.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Yaml } from 'cdk8s';
import { GoTools } from '../cluster/real/go-tools.ts';
import type { ObjectRef } from '../cluster/workload/index.ts';
import { goModule } from '../support/go-module.ts';

const MODULE = 'github.com/argoproj/argo-cd/v3';
const REDIS = 'redis-server';

/** Argo CD is one program, which its name tells what to be. */
export const argoCdTools = new GoTools<'argocd'>({
  moduleDir: import.meta.dirname,
  packages: { argocd: `${MODULE}/cmd` },
  versionOf: MODULE,
  cache: 'argocd',
  remedy: 'npm run test:argocd',
});

/** The path of redis-server, or undefined where it is not in PATH. */
export const findRedis = (): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, REDIS))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });

/** Objects of a manifest that Argo CD's module has, by path in the module. */
export const shippedObjects = (...path: readonly string[]): readonly ObjectRef[] =>
  Yaml.load(join(goModule(MODULE, argoCdTools.version), ...path)) as readonly ObjectRef[];
