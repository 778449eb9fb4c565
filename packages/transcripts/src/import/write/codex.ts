/** Writes a rollout of Codex: a line for each item of the Responses API, with the events that Codex repeats beside them. */

import type { Block, Usage } from "@strata/core"
import { uuidFrom } from "@strata/core/base"
import { asServerResult, asServerUse, exactInputOf, isMedia, resultBlocks, textOf } from "@strata/core/messages"
import type { LeftOut } from "./left-out.ts"
import { mediaUrl } from "./media-url.ts"
import { type Answer, type Compacted, type Step, stepsOf, summariesFirst } from "./steps.ts"
import type { Writing } from "./writing.ts"

type Payload = Readonly<Record<string, unknown>>

export function codexLines(writing: Writing): readonly string[] {
  return new Rollout(writing).lines()
}

class Rollout {
  readonly #writing: Writing
  readonly #steps: readonly Step[]
  readonly #written = new Set<string>()
  readonly #total = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, total_tokens: 0 }
  #model: string | undefined
  #at = new Date(0).toISOString() // for a conversation without messages

  constructor(writing: Writing) {
    this.#writing = writing
    this.#steps = summariesFirst(stepsOf(writing.messages, writing.leftOut), writing.leftOut)
  }

  lines(): readonly string[] {
    const { id, cwd = "", model } = this.#writing
    const timestamp = this.#steps[0]?.at ?? this.#at
    this.#at = timestamp
    const origin = { originator: "strata", cli_version: "0.0.0", source: "cli", model_provider: "openai" }
    this.#line("session_meta", { id: UUID.test(id) ? id : uuidFrom(id), timestamp, cwd, ...origin })
    this.#turn(model)
    const lastOf = new Map(this.#steps.map((step, at) => [step.kind === "answer" ? step.response : "", at]))
    for (const [at, step] of this.#steps.entries()) {
      this.#at = step.at
      this.#step(step)
      if (step.kind === "answer" && lastOf.get(step.response) === at && step.usage) this.#count(step.usage)
    }
    return [...this.#written]
  }

  /** Lines have no ids, so their times tell two equal ones apart. */
  #line(type: string, payload: Payload): void {
    const written = (at: string) => JSON.stringify({ timestamp: at, type, payload })
    let line = written(this.#at)
    for (let more = 1; this.#written.has(line); more++)
      line = written(new Date(Date.parse(this.#at) + more).toISOString())
    this.#written.add(line)
  }

  #item = (payload: Payload) => this.#line("response_item", payload)
  #event = (payload: Payload) => this.#line("event_msg", payload)

  /** Names the model from here on. The policies are the careful ones: a person who goes on chooses their own. */
  #turn(model: string | undefined): void {
    if (model === undefined || model === this.#model) return
    this.#model = model
    const policies = { approval_policy: "on-request", sandbox_policy: { type: "read-only" }, summary: "auto" }
    this.#line("turn_context", { cwd: this.#writing.cwd ?? "", ...policies, model })
  }

  #step(step: Step): void {
    switch (step.kind) {
      case "person":
        this.#event({ type: "user_message", message: textOf(step.blocks), images: [] })
        this.#said("user", step.blocks)
        break
      case "program":
        this.#said("developer", step.blocks)
        break
      case "answer":
        this.#answer(step)
        break
      case "results":
        for (const result of step.results) {
          if (result.is_error === true) this.#writing.leftOut.add("marks that a tool failed; its text is there")
          const output = outputOf(resultBlocks(result), this.#writing.leftOut)
          this.#item({ type: "function_call_output", call_id: result.tool_use_id, output })
        }
        break
      case "compaction":
        this.#compacted(step)
        break
      case "failure":
        this.#writing.leftOut.add("errors shown in place of an answer")
    }
  }

  #said(role: string, blocks: readonly Block[]): void {
    const content = partsOf(blocks, { text: "input_text", leftOut: this.#writing.leftOut })
    if (content.length > 0) this.#item({ type: "message", role, content })
  }

  #answer({ model, blocks }: Answer): void {
    this.#turn(model)
    for (const block of blocks) this.#answered(block)
  }

  #answered(block: Block): void {
    const { leftOut } = this.#writing
    switch (block.type) {
      case "text":
        this.#event({ type: "agent_message", message: block.text })
        this.#item({ type: "message", role: "assistant", content: [{ type: "output_text", text: block.text }] })
        break
      case "thinking":
        if (!block.thinking) leftOut.add("thinking that only its provider can read")
        else {
          if (block.signature) leftOut.add("signatures of thinking; its text is there")
          this.#item({ type: "reasoning", summary: [{ type: "summary_text", text: block.thinking }] })
        }
        break
      case "tool_use": {
        const written = exactInputOf(block) ?? JSON.stringify(block.input ?? {})
        this.#item({ type: "function_call", name: block.name, arguments: written, call_id: block.id })
        break
      }
      case "redacted_thinking":
        leftOut.add("thinking that only its provider can read")
        break
      default:
        leftOut.add(
          asServerUse(block) || asServerResult(block)
            ? "calls that the API's server ran"
            : `blocks of type ${block.type}`,
        )
    }
  }

  #compacted({ summary }: Compacted): void {
    const content = partsOf(summary, { text: "input_text", leftOut: this.#writing.leftOut })
    // Codex names one text; a summary in several pieces is in the history alone
    const [only, ...others] = summary
    this.#line("compacted", {
      message: only?.type === "text" && others.length === 0 ? only.text : "",
      replacement_history: [{ type: "message", role: "user", content }],
    })
  }

  #count(usage: Usage): void {
    const cached = usage.cache_read_input_tokens ?? 0
    const written = usage.cache_creation_input_tokens ?? 0
    if (written > 0) this.#writing.leftOut.add("counts of tokens written to the cache; they are counted as input")
    const input = usage.input_tokens + cached + written
    const last = {
      input_tokens: input,
      cached_input_tokens: cached,
      output_tokens: usage.output_tokens,
      total_tokens: input + usage.output_tokens,
    }
    for (const name of Object.keys(last) as (keyof typeof last)[]) this.#total[name] += last[name]
    this.#event({ type: "token_count", info: { total_token_usage: this.#total, last_token_usage: last } })
  }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function outputOf(blocks: readonly Block[], leftOut: LeftOut): string | readonly Payload[] {
  const parts = partsOf(blocks, { text: "input_text", leftOut })
  if (parts.length === 0) return ""
  const [only, ...others] = parts
  return others.length === 0 && only?.type === "input_text" ? String(only.text) : parts
}

function partsOf(blocks: readonly Block[], { text, leftOut }: { text: string; leftOut: LeftOut }): readonly Payload[] {
  return blocks.flatMap((block): readonly Payload[] => {
    if (block.type === "text" && typeof block.text === "string") return [{ type: text, text: block.text }]
    const url = isMedia(block) && block.type === "image" ? mediaUrl(block) : undefined
    if (url !== undefined) return [{ type: "input_image", image_url: url }]
    leftOut.add(`blocks of type ${block.type}`)
    return []
  })
}
