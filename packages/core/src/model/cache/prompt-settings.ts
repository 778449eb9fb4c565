/**
 * Settings that are part of the prompt without being blocks. After a change the server reads less from its cache: `speed` and citations
 * invalidate it from the system prompt on, the others from the messages on. A setting at its default counts as absent.
 */
import { type Block, resultBlocks, toBlocks } from "../../messages/blocks.ts"
import type { ModelRequest } from "../../messages/request.ts"

/** A setting of a request that its cached prefix depends on. */
export type PromptSetting = "speed" | "citations" | "tool_choice" | "images" | "thinking" | "effort"

export interface SettingValue {
  readonly name: PromptSetting
  /** Where the cache is lost from. */
  readonly from: "system" | "messages"
  readonly value: string
}

/** Content of messages that counts like a setting. */
export interface Features {
  readonly images: boolean
  readonly citations: boolean
}

export const NO_FEATURES: Features = { images: false, citations: false }

interface Extras {
  readonly speed?: unknown
  readonly tool_choice?: unknown
  readonly thinking?: unknown
  readonly output_config?: { readonly effort?: unknown }
}

export function settingsOf(request: ModelRequest, { images, citations }: Features): readonly SettingValue[] {
  const { speed, tool_choice, thinking, output_config } = request as Extras
  return [
    { name: "speed", from: "system", value: text(speed, "standard") },
    { name: "citations", from: "system", value: text(citations, false) },
    { name: "tool_choice", from: "messages", value: text(tool_choice, { type: "auto" }) },
    { name: "images", from: "messages", value: text(images, false) },
    { name: "thinking", from: "messages", value: text(thinking, null) },
    { name: "effort", from: "messages", value: text(output_config?.effort, null) },
  ]
}

/** With one more message. The same object where it adds nothing. */
export function withFeaturesOf({ content }: ModelRequest["messages"][number], before: Features): Features {
  const blocks = toBlocks(content)
  const images = before.images || blocks.some((block) => holds(block, isImage))
  const citations = before.citations || blocks.some((block) => holds(block, asksForCitations))
  return images === before.images && citations === before.citations ? before : { images, citations }
}

export const featuresOf = ({ messages }: ModelRequest): Features =>
  messages.reduce((features, message) => withFeaturesOf(message, features), NO_FEATURES)

const text = (value: unknown, byDefault: unknown): string => JSON.stringify(value ?? byDefault)

const holds = (block: Block, wanted: (block: Block) => boolean): boolean =>
  wanted(block) ||
  (block.type === "tool_result" && typeof block.content !== "string" && resultBlocks(block).some(wanted))

const isImage = (block: Block): boolean => block.type === "image"

const asksForCitations = (block: Block): boolean =>
  (block as { readonly citations?: { readonly enabled?: boolean } | null }).citations?.enabled === true
