/** What cdk8s-plus writes out although it is what the API server takes it for anyway. */

/** In the spec of a Deployment. */
export const DEPLOYMENT = {
  minReadySeconds: 0,
  progressDeadlineSeconds: 600,
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
};

/** In the spec of a pod. */
export const POD = {
  dnsPolicy: 'ClusterFirst',
  hostNetwork: false,
  restartPolicy: 'Always',
  setHostnameAsFQDN: false,
  terminationGracePeriodSeconds: 30,
};

/** In the security context of a container. */
export const SECURITY_CONTEXT = { privileged: false };

/** In a probe, and in its request. */
export const PROBE = { failureThreshold: 3 };
export const HTTP_GET = { scheme: 'HTTP' };
