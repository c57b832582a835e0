/**
 * The health of a Link in Argo CD, which by default considers every custom resource healthy. The health follows the
 * condition Ready; a Link whose target cannot be reached is Degraded, with the reason, not Missing.
 */
import { LinkApi } from '../../crds/wire.ts';

/**
 * Under Linkerd's own CRD a status never has conditions, since that CRD drops them: such a Link is not left Progressing
 * for ever. Of Lua's libraries Argo CD opens only the basic ones, `table` and a part of `os`.
 */
const LINK_HEALTH = `local function health(status, message)
  return { status = status, message = message }
end

local status = obj.status or {}
if status.conditions == nil then
  if status.mirrorServices ~= nil or status.federatedServices ~= nil then
    return health("Healthy", "conditions are not known: the installed CRD of the Link does not keep them")
  end
  return health("Progressing", "the operator has not reported yet")
end

local generation = obj.metadata.generation
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

/** Settings for Links, as keys of Argo CD's ConfigMap `argocd-cm` (`configs.cm` of its Helm chart). */
export const ARGO_CD_CUSTOMIZATIONS: Readonly<Record<string, string>> = {
  [`resource.customizations.health.${LinkApi.group}_${LinkApi.kind}`]: LINK_HEALTH,
};
