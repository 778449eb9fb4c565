/**
 * The prompt that asks for memories, and the text that tells the agent how to save memories itself. Values are inserted literally.
 * `prompts/rendered/` shows the complete prompt.
 */
import { fillPrompt, promptText } from "../../base/text.ts"

const MAX_QUOTED = 200 // characters of the message that the range begins with

const TEXTS = {
  prompt: promptText(new URL("./prompts/prompt.md", import.meta.url)),
  "with-files": promptText(new URL("./prompts/how-with-files.md", import.meta.url)),
  "as-text": promptText(new URL("./prompts/how-as-text.md", import.meta.url)),
  "how-to-remember": promptText(new URL("./prompts/how-to-remember.md", import.meta.url)),
  "how-agents-remember": promptText(new URL("./prompts/how-agents-remember.md", import.meta.url)),
} as const

/** Whether the fork writes with file tools or answers with text. */
export type MemoryWriteMode = "with-files" | "as-text"

interface PromptInput {
  readonly mode: MemoryWriteMode
  /** Location of the memories: a directory or another name. */
  readonly location: string
  /** The user's first message that was not examined yet. Absent if the complete conversation is new. */
  readonly since?: string
  /** The existing memories: the index, or their texts. */
  readonly memories: string
  /** Date as YYYY-MM-DD. */
  readonly today: string
  readonly turns: number
  /** The user's messages in earlier conversations that were too short for an extraction. */
  readonly earlier?: readonly string[]
}

export function memoryPrompt({ mode, location, since, memories, today, turns, earlier }: PromptInput): string {
  const how = fillPrompt(TEXTS[mode], { location, turns: String(turns) }).trimEnd()
  const none = memories.trim() === "" ? "(none yet)" : memories.trimEnd()
  const values = { range: rangeOf(since), how, today, memories: none, earlier: earlierText(earlier) }
  return fillPrompt(TEXTS.prompt, values).trimEnd()
}

/** Adds messages of earlier conversations, which are not above the prompt. */
function earlierText(messages: readonly string[] = []): string {
  if (messages.length === 0) return ""
  const lines = messages.map((text) => `- ${JSON.stringify(text)}`)
  return `\n\nLook also at what the user said in earlier conversations, which are not above. Each line is one message:\n\n${EARLIER}\n${lines.join("\n")}\n${EARLIER_END}`
}

const EARLIER = "<said_earlier>"
const EARLIER_END = "</said_earlier>"

/** Text for the start of a conversation, about the memory of the project or of an agent. */
export function howToRemember(location: string, kind: "project" | "agent" = "project"): string {
  return fillPrompt(TEXTS[kind === "agent" ? "how-agents-remember" : "how-to-remember"], { location }).trimEnd()
}

function rangeOf(since: string | undefined): string {
  if (since === undefined) return "the conversation above"
  const characters = [...since.replace(/\s+/g, " ").trim()]
  const quoted = characters.length > MAX_QUOTED ? `${characters.slice(0, MAX_QUOTED).join("")}…` : characters.join("")
  return `the part of the conversation above that begins with the user's message ${JSON.stringify(quoted)}`
}
