/**
 * The defects that put back what the operator once did wrong (test/mutants/faults.ts), and those that show that each class of
 * plans can fail; one file for each folder of the operator, one for what reviews found, and one for commands.
 */
import type { Defect } from '../defect.ts';
import { ACCESS } from './access.ts';
import { COMMANDS } from './commands.ts';
import { FAILOVER } from './failover.ts';
import { FEDERATION } from './federation.ts';
import { GATEWAY } from './gateway.ts';
import { IMPORTS } from './imports.ts';
import { KUBE } from './kube.ts';
import { LINK } from './link.ts';
import { MCS } from './mcs.ts';
import { MIRROR } from './mirror.ts';
import { PROCESS } from './process.ts';
import { RUNTIME } from './runtime.ts';
import { REVIEWED } from './reviewed.ts';
import { SOURCE } from './source.ts';
import { TARGET } from './target.ts';

export const DEFECTS: readonly Defect[] = [
  ...KUBE,
  ...RUNTIME,
  ...MIRROR,
  ...LINK,
  ...SOURCE,
  ...TARGET,
  ...GATEWAY,
  ...FEDERATION,
  ...ACCESS,
  ...FAILOVER,
  ...MCS,
  ...IMPORTS,
  ...PROCESS,
  ...REVIEWED,
  ...COMMANDS,
];
