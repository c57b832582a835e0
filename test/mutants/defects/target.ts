import type { Defect } from '../defect.ts';

export const TARGET: readonly Defect[] = [];
