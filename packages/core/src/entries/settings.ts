/** `@strata/core/settings`. Settings, flags and trust, for programs that show or change them. */
import "../base/node-version.ts"

export { type AgentFile, homeAgentFiles } from "../settings/agent-files.ts"
export type { ClaudeOffer } from "../settings/claude-consent.ts"
export type { ClaudeDecision } from "../settings/claude-home.ts"
export type { FlagClient, FlagContext, FlagDetails } from "../settings/flag-client.ts"
export { MAX_RESULT_CHARACTERS } from "../settings/flag-client.ts"
export { FIGURES, type FigureName, SWITCHES, type SwitchName } from "../settings/flag-names.ts"
export { createFlags, type Flags } from "../settings/flags.ts"
export type { SettingsSnapshot } from "../settings/settings.ts"
export {
  DEFAULT_SETTINGS,
  ENVIRONMENT,
  loadSettings,
  readSettings,
  type Settings,
} from "../settings/settings.ts"
export type { ProjectClaim, Trust } from "../settings/trust.ts"
export { readTrustState, revokeTrust } from "../settings/trust.ts"
export type { TrustItem } from "../settings/trust-items.ts"
export { trustItemText, trustItemTitle, trustItemVariables } from "../settings/trust-items.ts"
export { listTrust } from "../settings/trust-store.ts"
export type { UserRule, UserRules } from "../settings/user-rules.ts"
export { userRules } from "../settings/user-rules.ts"
