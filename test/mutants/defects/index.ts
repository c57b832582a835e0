/** All defects, one file for each folder of the operator, and one for the constructs that users compose with. */
import type { Defect } from '../defect.ts';
import { CONSTRUCTS } from './constructs.ts';
import { GATEWAY } from './gateway.ts';
import { KUBE } from './kube.ts';
import { LINK } from './link.ts';
import { MIRROR } from './mirror.ts';
import { PROCESS } from './process.ts';
import { RUNTIME } from './runtime.ts';
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
  ...PROCESS,
  ...CONSTRUCTS,
];
