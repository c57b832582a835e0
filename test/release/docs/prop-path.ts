/** What props of constructs are called in a table of docs/. */

/** Props that are shown as a whole. */
const LEAVES: ReadonlySet<string> = new Set([
  'annotations',
  'podAnnotations',
  'deploymentAnnotations',
  'podLabels',
  'nodeAffinity',
  'env',
]);

/** Props as a path: `gateway.service.port`, `links[].probe`. What goes with every operator or Link is not the point. */
export const propPath = (props: object): string => {
  const entries = Object.entries(props);
  const [key, value] = entries.at(-1) as [string, unknown];
  if (LEAVES.has(key) || key.endsWith('Selector')) return key;
  if (Array.isArray(value)) {
    const [first] = value as readonly unknown[];
    const listed = ['links', 'sources'].includes(key) && typeof first === 'object' && first !== null;
    return listed ? `${key}[].${propPath(first)}` : key;
  }
  return typeof value === 'object' && value !== null && key !== 'resources' ? `${key}.${propPath(value)}` : key;
};
