/** Parts of JSON schemas that kinds have in common. */

/** Schema of a text. */
export const text = (description: string) => ({ type: 'string', description }) as const;

/** Schema of a number of things. */
export const count = (description: string) => ({ type: 'integer', description, minimum: 0 }) as const;

/** What every condition of ours has, beside its `type`. */
export const CONDITION_FIELDS = {
  status: { type: 'string', description: 'Whether it holds', enum: ['True', 'False', 'Unknown'] },
  reason: {
    type: 'string',
    description: 'CamelCase word for why',
    minLength: 1,
    maxLength: 1024,
    pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
  },
  message: text('For people; may be empty'),
  lastTransitionTime: { type: 'string', format: 'date-time', description: 'When status last changed' },
} as const;
