/**
 * Settings that are part of the prompt without being blocks. Changing one makes the server read less: `speed` and citations take the
 * system prompt along, the others the messages. What is said as the default is counts as not said.
 */
import { type Block, resultBlocks, toBlocks } from "../../messages/blocks.ts"
import type { ModelRequest } from "../../messages/request.ts"

export type PromptSetting = "speed" | "citations" | "tool_choice" | "images" | "thinking" | "effort"

export interface SettingValue {
  readonly name: PromptSetting
  /** From where on the cache is lost with it. */
  readonly from: "system" | "messages"
  readonly value: string
}

/** What messages have in them that counts like a setting. */
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

/** Those of one more message added. The same object where it adds none. */
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
