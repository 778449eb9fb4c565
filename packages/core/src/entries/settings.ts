/** `@strata/core/settings`. Settings, flags and trust, for programs that show or change them. */
import "../base/node-version.ts"

export { type AgentFile, homeAgentFiles } from "../settings/agent-files.ts"
export { MOST_RESULT_CHARACTERS } from "../settings/flag-client.ts"
export { FIGURES, type FigureName, SWITCHES, type SwitchName } from "../settings/flag-names.ts"
export { createFlags, type Flags } from "../settings/flags.ts"
export { partText, partTitle, partVariables } from "../settings/project-parts.ts"
export {
  compactionAllowed,
  DEFAULT_SETTINGS,
  ENVIRONMENT,
  loadSettings,
  readSettings,
  type Settings,
} from "../settings/settings.ts"
export { revokeTrust, trustOf } from "../settings/trust.ts"
export { listTrust } from "../settings/trust-store.ts"
