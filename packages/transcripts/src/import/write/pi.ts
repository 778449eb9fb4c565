/** Writes a session of pi: a header, then a line for each message, linked by ids. A message of the model is one whole response. */

import type { Block, Usage, Uuid } from "@strata/core"
import { isSafeId, uuidFrom } from "@strata/core/base"
import { asServerResult, asServerUse, isToolUse, resultBlocks } from "@strata/core/messages"
import { asFields } from "../foreign-json.ts"
import type { LeftOut } from "./left-out.ts"
import { type Answer, type Step, stepsOf, wholeResponses } from "./steps.ts"
import type { Writing } from "./writing.ts"

const VERSION = 3 // of the format

type Part = Readonly<Record<string, unknown>>

export function piLines(writing: Writing): readonly string[] {
  return new Session(writing).lines()
}

class Session {
  readonly #writing: Writing
  readonly #steps: readonly Step[]
  readonly #lines: string[] = []
  /** The names of tools by the ids of their calls. */
  readonly #tools = new Map<string, string>()
  /** The first line of each message. */
  readonly #places = new Map<Uuid, string>()
  #parentId: string | null = null

  constructor(writing: Writing) {
    this.#writing = writing
    this.#steps = wholeResponses(stepsOf(writing.messages, writing.leftOut))
  }

  lines(): readonly string[] {
    const { id, cwd = "", title } = this.#writing
    const timestamp = this.#steps[0]?.at ?? new Date(0).toISOString()
    const header = { type: "session", version: VERSION, id: isSafeId(id) ? id : uuidFrom(id), timestamp, cwd }
    this.#lines.push(JSON.stringify(header))
    for (const step of this.#steps) this.#step(step)
    if (title !== undefined) this.#entry({ type: "session_info", name: title }, this.#steps.at(-1)?.at ?? timestamp)
    return this.#lines
  }

  #entry(fields: Part, at: string, of?: Uuid): void {
    const id = this.#lines.length.toString(16).padStart(8, "0")
    this.#lines.push(JSON.stringify({ ...fields, id, parentId: this.#parentId, timestamp: at }))
    if (of !== undefined && !this.#places.has(of)) this.#places.set(of, id)
    this.#parentId = id
  }

  #message(message: Part, { at, uuid }: Step): void {
    this.#entry({ type: "message", message: { ...message, timestamp: Date.parse(at) || 0 } }, at, uuid)
  }

  #step(step: Step): void {
    const { leftOut } = this.#writing
    switch (step.kind) {
      case "person": {
        const content = partsOf(step.blocks, leftOut)
        if (content.length > 0) this.#message({ role: "user", content }, step)
        break
      }
      case "program": {
        const content = partsOf(step.blocks, leftOut)
        const fields = { type: "custom_message", customType: "strata-export", content, display: false }
        if (content.length > 0) this.#entry(fields, step.at, step.uuid)
        break
      }
      case "answer":
        this.#answer(step)
        break
      case "results":
        for (const result of step.results) {
          const content = partsOf(resultBlocks(result), leftOut)
          const toolName = this.#tools.get(result.tool_use_id) ?? "unknown"
          const isError = result.is_error === true
          this.#message({ role: "toolResult", toolCallId: result.tool_use_id, toolName, content, isError }, step)
        }
        break
      case "compaction":
        this.#compaction(step)
        break
      case "failure": {
        const error = { content: [], stopReason: "error", errorMessage: step.text }
        this.#message({ role: "assistant", ...error, ...providerOf(undefined), model: "", usage: usageOf() }, step)
      }
    }
  }

  #answer(step: Answer): void {
    for (const { id, name } of step.blocks.filter(isToolUse)) this.#tools.set(id, name)
    const content = partsOf(step.blocks, this.#writing.leftOut)
    if (content.length === 0) return
    const model = step.model ?? this.#writing.model ?? ""
    const stopReason = STOPS[step.stopReason ?? ""] ?? (step.blocks.some(isToolUse) ? "toolUse" : "stop")
    const about = { ...providerOf(model), model, usage: usageOf(step.usage), stopReason, responseId: step.response }
    this.#message({ role: "assistant", content, ...about }, step)
  }

  #compaction({ summary, before, kept, at, uuid }: Extract<Step, { kind: "compaction" }>): void {
    const { leftOut } = this.#writing
    const texts = summary.flatMap((block) => (block.type === "text" ? [block.text] : []))
    leftOut.add("pictures in a summary", summary.length - texts.length)
    const own = this.#lines.length.toString(16).padStart(8, "0") // names no earlier line: nothing is kept
    const first = kept.map((each) => this.#places.get(each)).find((place) => place !== undefined)
    const fields = { summary: texts.join("\n"), firstKeptEntryId: first ?? own, tokensBefore: before }
    this.#entry({ type: "compaction", ...fields }, at, uuid)
  }
}

const STOPS: Readonly<Record<string, string>> = { end_turn: "stop", max_tokens: "length", tool_use: "toolUse" }

/** pi sends a session on to the provider that it names. */
function providerOf(model: string | undefined) {
  if (/^(?:gpt|o\d|codex)/i.test(model ?? "")) return { api: "openai-responses", provider: "openai" }
  if (/^gemini/i.test(model ?? "")) return { api: "google-generative-ai", provider: "google" }
  return { api: "anthropic-messages", provider: "anthropic" }
}

/** pi computes no prices later: it sums what the file says, and an export does not know what was paid. */
function usageOf(usage?: Usage) {
  const [input, output] = [usage?.input_tokens ?? 0, usage?.output_tokens ?? 0]
  const [cacheRead, cacheWrite] = [usage?.cache_read_input_tokens ?? 0, usage?.cache_creation_input_tokens ?? 0]
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
  return { input, output, cacheRead, cacheWrite, totalTokens: input + output + cacheRead + cacheWrite, cost }
}

function partsOf(blocks: readonly Block[], leftOut: LeftOut): readonly Part[] {
  return blocks.flatMap((block): readonly Part[] => {
    switch (block.type) {
      case "text":
        if (typeof block.text === "string") return [{ type: "text", text: block.text }]
        break
      case "thinking":
        if (typeof block.thinking === "string")
          return [{ type: "thinking", thinking: block.thinking, thinkingSignature: block.signature ?? "" }]
        break
      case "image":
        if (block.source?.type === "base64")
          return [{ type: "image", data: block.source.data, mimeType: block.source.media_type }]
        break
      case "tool_use":
        return [{ type: "toolCall", id: block.id, name: block.name, arguments: asFields(block.input) ?? {} }]
    }
    leftOut.add(
      asServerUse(block) || asServerResult(block) ? "calls that the API's server ran" : `blocks of type ${block.type}`,
    )
    return []
  })
}
