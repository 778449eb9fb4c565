/** `@strata/plugins`: what other agents ask of Strata. */
export { answer, answerHook } from "./answer.ts"
export { answerCarry, type CarryAnswer, type CarryRequest } from "./carry-request.ts"
export { CLIENTS, type Client } from "./clients.ts"
export { MODES, type Mode, type Order, type Plan, planInstall, planUninstall } from "./install/install.ts"
