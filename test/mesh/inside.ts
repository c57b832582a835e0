/** Environment variable of a run that is in namespaces of its own. */
export const INSIDE_VARIABLE = 'LINKSPAN_MESH_INSIDE';

/** Whether this process is in namespaces of its own. */
export const isInside = (): boolean => process.env[INSIDE_VARIABLE] === 'true';
