/** The servers that test clusters are made of: in KUBEBUILDER_ASSETS first, else in the user's cache. */
import { GoTools } from './go-tools.ts';

/** A program that test clusters are made of. */
export type Binary = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubectl' | 'coredns';

/** The Go module beside this file. What fails soonest is built first, the longest early. */
export const clusterTools = new GoTools<Binary>({
  moduleDir: import.meta.dirname,
  packages: {
    etcd: 'go.etcd.io/etcd/server/v3',
    'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
    kubectl: 'k8s.io/kubernetes/cmd/kubectl',
    'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
    coredns: 'github.com/coredns/coredns',
  },
  versionOf: 'k8s.io/kubernetes',
  cache: 'cluster',
  // Kubernetes learns its own version from the linker.
  linkerFlags: (gitVersion) => {
    const [gitMajor, gitMinor] = gitVersion.slice(1).split('.');
    const variables = Object.entries({ gitVersion, gitMajor, gitMinor });
    return variables.map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  },
  assetsVariable: 'KUBEBUILDER_ASSETS',
  remedy: 'npm run cluster:build',
});

/** The path of a program that is there, or undefined. */
export const findBinary = (binary: Binary): string | undefined => clusterTools.find(binary);

/** The programs that are not there yet, in build order. */
export const missingBinaries = (): readonly Binary[] => clusterTools.missing();

/**
 * The path of a program that must be there.
 * @throws Error with the remedy if it is missing
 */
export const requireBinary = (binary: Binary): string => clusterTools.require(binary);
