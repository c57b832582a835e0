import type { Defect } from '../defect.ts';

export const MIRROR: readonly Defect[] = [];
