/**
 * All defects, one file for each folder of the operator, one for the local members of federated Services, one for
 * the controller of ServiceImports, one for the constructs that users compose with, one for the commands, and one for what a
 * review found.
 */
import type { Defect } from '../defect.ts';
import { COMMANDS } from './commands.ts';
import { CONSTRUCTS } from './constructs.ts';
import { FAILOVER } from './failover.ts';
import { FEDERATION } from './federation.ts';
import { GATEWAY } from './gateway.ts';
import { IMPORTS } from './imports.ts';
import { KUBE } from './kube.ts';
import { LINK } from './link.ts';
import { LOCAL_MEMBER } from './local-member.ts';
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
  ...LOCAL_MEMBER,
  ...FAILOVER,
  ...MCS,
  ...IMPORTS,
  ...PROCESS,
  ...CONSTRUCTS,
  ...REVIEWED,
  ...COMMANDS,
];
