import type { Defect } from '../defect.ts';

export const GATEWAY: readonly Defect[] = [];
