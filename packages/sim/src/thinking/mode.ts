/** Whether and how a request thinks. A request that does not say gets the model's default. */
import type { ModelFacts } from "@strata/core"
import type { MessagesBody } from "../wire.ts"

/** Models that think by default. Models that always think have `accepts.thinkingOff` false. */
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

/** Whether the client wants only the signature of the thinking, without its text. */
export const omitsThinking = ({ thinking }: Pick<MessagesBody, "thinking">) =>
  (thinking?.type === "enabled" || thinking?.type === "adaptive") && thinking.display === "omitted"
