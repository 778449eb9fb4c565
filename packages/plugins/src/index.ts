/** `@strata/plugins`: what other agents ask of Strata. */
export { answer, answerHook } from "./answer.ts"
export { answerCarry, type CarryAnswer, type CarryRequest } from "./carry-request.ts"
export { CLIENTS, type Client, MODES, type Mode } from "./clients.ts"
export { type CompactedRequest, type HandedCompaction, handedCompactions } from "./compactions.ts"
export {
  isInstalled,
  type Order,
  type Plan,
  planInstall,
  planKeepHook,
  planKeepHookRemoval,
  planUninstall,
} from "./install/install.ts"
