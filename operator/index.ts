/** The operator as a library: `linkspan/operator`. What is exported here is public. */
export { type OperatorConfig, parseOperatorConfig, type Surroundings } from './config/config.ts';
export { addOperatorFlags, type FlagValues } from './config/flags.ts';
export { createLogger, type Logger, type LoggerOptions } from './runtime/logger.ts';
export { LeadershipLostError, runOperator, type RunOptions } from './main.ts';
export type { ClusterAccess } from './kube/access/access.ts';
export { clientNodeAccess } from './kube/access/client-node.ts';
