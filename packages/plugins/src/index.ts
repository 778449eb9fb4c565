/** `@strata/plugins`: handles requests of plugins in other agents, and installs these plugins. */

export { CLIENTS, type Client, MODES, type Mode } from "./clients.ts"
export { type CompactRequest, type CompactResponse, compactSession } from "./compact-endpoint.ts"
export { type ClientCompaction, type CompactionReport, listClientCompactions } from "./compactions.ts"
export {
  type InstallPlan,
  type InstallRequest,
  isInstalled,
  planArchiveHook,
  planArchiveHookRemoval,
  planInstall,
  planUninstall,
} from "./install/install.ts"
export { handleRequest, handleSessionStartHook } from "./request-handler.ts"
