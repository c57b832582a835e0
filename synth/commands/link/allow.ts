/**
 * `linkspan allow`: an account in a target, for somebody else to read it with. Its manifests are printed, or written with
 * `--apply`. `linkspan link-gen` then makes credentials of its token.
 */
import type { ApiJson } from '../../../constructs/mirror/render.ts';
import { Label, tokenSecretName, Value } from '../../../crds/wire.ts';
import { NAMESPACES } from '../../../operator/kube/objects.ts';
import { applyAll } from '../common/apply.ts';
import { type Cluster, withCluster } from '../common/cluster.ts';
import { refuseProblems, reportingProblems } from '../common/command-error.ts';
import { SERVICE_ACCOUNTS } from '../common/kinds.ts';
import { documentsText, withReport } from '../common/output.ts';
import { print } from '../../print.ts';
import type { AllowFlags } from './gen-flags.ts';
import { accessManifests } from './manifests.ts';
import { tokenSecretOf } from './token.ts';

/** The flags by the props that are made of them. */
const FLAG_OF_PROP = { name: '--service-account-name', namespace: '--namespace' };

/** Runs the command. Sets the exit code. */
export const allow = (flags: AllowFlags): Promise<void> =>
  reportingProblems(async () => {
    const account = { namespace: flags.namespace, name: flags.serviceAccountName };
    const withToken = (tokenSecret: string): readonly ApiJson[] =>
      accessManifests(account, { flat: true, tokenSecret });
    // Rendered before a cluster is asked, so that names that no account can have are refused first.
    const offline = [namespaceOf(flags), ...withToken(tokenSecretName(account.name))];
    if (flags.ignoreCluster && !flags.apply) {
      await print(documentsText(offline, flags.output));
      return;
    }
    await withCluster(flags, async (target) => {
      if (!flags.ignoreCluster) await refuseExisting(target, flags);
      const hasNamespace = (await target.find(NAMESPACES, { name: flags.namespace })) !== undefined;
      const objects = [
        ...(hasNamespace ? [] : [namespaceOf(flags)]),
        ...withToken(await tokenSecretOf(target, account)),
      ];
      if (!flags.apply) {
        await print(documentsText(objects, flags.output));
        return;
      }
      const format = flags.output === 'json' ? 'json' : undefined;
      await withReport(format, (report) => applyAll(target, objects, report));
    });
  }, FLAG_OF_PROP);

const refuseExisting = async (target: Cluster, { namespace, serviceAccountName: name }: AllowFlags): Promise<void> => {
  const found = await target.find(SERVICE_ACCOUNTS, { namespace, name });
  if (found === undefined) return;
  refuseProblems([
    {
      object: target.title(SERVICE_ACCOUNTS.kind, { namespace, name }),
      reason: 'exists already',
      remedy: 'name another with --service-account-name, or give this one the rights with --ignore-cluster',
    },
  ]);
};

const namespaceOf = ({ namespace: name }: AllowFlags): ApiJson => ({
  apiVersion: 'v1',
  kind: NAMESPACES.kind,
  metadata: { name, labels: { [Label.extension]: Value.extension } },
});
