/** Whether and how a request thinks, with the model's default where it says nothing. */
import type { ModelFacts } from "@strata/core"
import type { MessagesBody } from "../wire.ts"

/** Models that think unless told not to; those that always think are known by `accepts.thinkingOff`. */
const THINKS_BY_DEFAULT: ReadonlySet<string> = new Set(["claude-opus-5", "claude-sonnet-5", "claude-sonnet-5-5"])

export type ThinkingMode = "off" | "adaptive" | "between_tools" | `budget ${number}`

export function thinkingMode({ thinking }: Pick<MessagesBody, "thinking">, model: ModelFacts): ThinkingMode {
  switch (thinking?.type) {
    case "enabled":
      return `budget ${thinking.budget_tokens}`
    case "adaptive":
    case "between_tools":
      return thinking.type
    case "disabled":
      return "off"
    default:
      return THINKS_BY_DEFAULT.has(model.id) || !model.accepts.thinkingOff ? "adaptive" : "off"
  }
}

/** The client wants the seal of the thinking, not its text. */
export const omitsThinking = ({ thinking }: Pick<MessagesBody, "thinking">) =>
  (thinking?.type === "enabled" || thinking?.type === "adaptive") && thinking.display === "omitted"
