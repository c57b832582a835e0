import type { Defect } from '../defect.ts';

export const KUBE: readonly Defect[] = [];
