/** Whether and how a request thinks. A request without the setting gets the model's default. */
import type { ModelFacts } from "@strata/core/tokens"
import type { MessagesBody } from "../wire.ts"

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
      return model.accepts.thinksUnasked || !model.accepts.thinkingOff ? "adaptive" : "off"
  }
}

/** Whether the client gets only the signature of the thinking, without its text. Newer models omit the text by default. */
export function omitsThinking({ thinking }: Pick<MessagesBody, "thinking">, { accepts }: ModelFacts): boolean {
  const display = thinking?.type === "enabled" || thinking?.type === "adaptive" ? thinking.display : undefined
  return display ? display === "omitted" : accepts.omitsThinking
}
