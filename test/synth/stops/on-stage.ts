/** Clusters on which a command can begin. */
import type { Scenario } from './scenarios.ts';
import { StopStage } from './stage.ts';

/** Runs a test of clusters on which a command can begin. */
export const onStage = async <T>(scenario: Scenario, body: (stage: StopStage) => Promise<T>): Promise<T> => {
  const stage = await StopStage.start('simulated');
  try {
    if (scenario.operator) stage.clusters.operator();
    const release = await scenario.prepare(stage);
    try {
      return await body(stage);
    } finally {
      await release?.();
    }
  } finally {
    await stage.stop();
  }
};
