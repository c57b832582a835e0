/**
 * What tests and the demo do to a cluster before the operator sees it, in one import: talk to its API, install kinds,
 * run pods. Only the plain Kubernetes API is used, so it works the same on both backings.
 */
export { Api, ApiError, api, collectionPath, objectPath } from './api.ts';
export type { Answer, Collection, KubeObject, ObjectMeta, ObjectRef, WatchEvent } from './api.ts';
export { installCrd, uninstallCrd } from './crd.ts';
export { eventually } from './eventually.ts';
export { READY_ANNOTATION, startKubelet } from './kubelet.ts';
export type { Kubelet, KubeletOptions } from './kubelet.ts';
