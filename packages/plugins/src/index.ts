/** `@strata/plugins`: what other agents ask of Strata. */
export { answerCarry, type CarryAnswer, type CarryRequest, readCarryRequest, type UndoAnswer } from "./carry-request.ts"
export { CLIENTS, type Client } from "./clients.ts"
