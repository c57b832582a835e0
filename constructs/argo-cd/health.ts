/**
 * The health of a Link and of a ServiceFailover in Argo CD, which by default considers every custom resource healthy. The
 * health follows the condition Ready; a Link whose target cannot be reached is Degraded, with the reason, not Missing.
 */
import { FailoverApi, LinkApi } from '../../crds/wire.ts';

const HEALTH_FUNCTION = `local function health(status, message)
  return { status = status, message = message }
end

local status = obj.status or {}
`;

/** Follows the condition Ready, once there are conditions. */
const FOLLOW_READY = `local generation = obj.metadata.generation
if generation ~= nil and (status.observedGeneration == nil or status.observedGeneration < generation) then
  return health("Progressing", "the operator has not seen the last change yet")
end

for _, condition in ipairs(status.conditions) do
  if condition.type == "Ready" then
    if condition.status == "True" then
      return health("Healthy", condition.message)
    end
    if condition.status == "False" then
      return health("Degraded", condition.message)
    end
    return health("Progressing", condition.message)
  end
end
return health("Progressing", "condition Ready is not known yet")
`;

/**
 * Under Linkerd's own CRD a status never has conditions, since that CRD drops them: such a Link is not left Progressing
 * for ever. Of Lua's libraries Argo CD opens only the basic ones, `table` and a part of `os`.
 */
const LINK_HEALTH = `${HEALTH_FUNCTION}if status.conditions == nil then
  if status.mirrorServices ~= nil or status.federatedServices ~= nil then
    return health("Healthy", "conditions are not known: the installed CRD of the Link does not keep them")
  end
  return health("Progressing", "the operator has not reported yet")
end

${FOLLOW_READY}`;

const FAILOVER_HEALTH = `${HEALTH_FUNCTION}if status.conditions == nil then
  return health("Progressing", "the operator has not reported yet")
end

${FOLLOW_READY}`;

/** Settings for Links and ServiceFailovers, as keys of Argo CD's ConfigMap `argocd-cm` (`configs.cm` of its Helm chart). */
export const ARGO_CD_CUSTOMIZATIONS: Readonly<Record<string, string>> = {
  [`resource.customizations.health.${LinkApi.group}_${LinkApi.kind}`]: LINK_HEALTH,
  [`resource.customizations.health.${FailoverApi.group}_${FailoverApi.kind}`]: FAILOVER_HEALTH,
};
