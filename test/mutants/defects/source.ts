import type { Defect } from '../defect.ts';

export const SOURCE: readonly Defect[] = [];
