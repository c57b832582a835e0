/** What is measured of controllers: their reconciles and their workqueues, under the names of controller-runtime. */
import { forget, type Instruments, WORK_BUCKETS } from './instruments.ts';

export function controllerMetrics({ gauge, counter, histogram }: Instruments) {
  /** Metrics of a reconcile loop, which `controller` names; `result` is `success` or `error`. */
  const reconcile = {
    total: counter(
      'controller_runtime_reconcile_total',
      'Reconciles by result: success or error',
      'controller',
      'result',
    ),
    errors: counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed', 'controller'),
    /** Seconds. */
    time: histogram(
      'controller_runtime_reconcile_time_seconds',
      'Seconds that a reconcile took',
      WORK_BUCKETS,
      'controller',
    ),
    activeWorkers: gauge('controller_runtime_active_workers', 'Reconciles under way', 'controller'),
  };
  /** Metrics of the queue of a reconcile loop, which `name` names. */
  const workqueue = {
    depth: gauge('workqueue_depth', 'Keys waiting in the workqueue', 'name'),
    adds: counter('workqueue_adds_total', 'Keys added to the workqueue', 'name'),
    retries: counter('workqueue_retries_total', 'Keys added again after a failure', 'name'),
    /** Seconds. */
    queueDuration: histogram('workqueue_queue_duration_seconds', 'Seconds that a key waited', WORK_BUCKETS, 'name'),
    /** Seconds. */
    workDuration: histogram(
      'workqueue_work_duration_seconds',
      'Seconds that a key was worked on',
      WORK_BUCKETS,
      'name',
    ),
  };

  return {
    reconcile,
    workqueue,
    /** Removes every series of a controller that will not run again, and of its queue. */
    forgetController: async (controller: string): Promise<void> => {
      await Promise.all([
        ...Object.values(reconcile).map((metric) => forget(metric, 'controller', controller)),
        ...Object.values(workqueue).map((metric) => forget(metric, 'name', controller)),
      ]);
    },
  };
}
