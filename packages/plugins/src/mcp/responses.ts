/** Responses of the tools, resources and prompts. This module is loaded with the first request. */

import type { ToolOutput } from "@strata/core/agent"
import { errorReason, maskSecrets } from "@strata/core/base"
import { inline, inlineUpTo, isMedia } from "@strata/core/messages"
import { DEFAULT_BUDGET, MIN_BUDGET, type RecallInput, runRecall, shortConversationId } from "@strata/core/recall"
import { CONVERSATIONS, MEMORIES } from "./definitions.ts"
import { ClientMemories, listText, type MemoryAction } from "./memories.ts"
import { ProjectRecall, type ProjectRecallOptions, type RecallClient } from "./project-recall.ts"
import { ERRORS, type Parameters, ProtocolError } from "./protocol.ts"

/** The field in which Claude Code sends the id of a call. */
const CALL_ID = "claudecode/toolUseId"
const isCallId = (id: unknown): id is string => typeof id === "string" && /^[\w-]{8,80}$/.test(id)

const MAX_LISTED = 100 // conversations
const MAX_TITLE = 100 // characters
/** Limit and budget share of memories that accompany the results of a project search. They must be relevant. */
const MAX_MEMORIES = 3
const MEMORY_BUDGET_SHARE = 0.3
const PROMPT_TOKENS = 3_000

export class McpResponses {
  readonly #past: ProjectRecall
  readonly #memories: ClientMemories

  constructor(options: ProjectRecallOptions) {
    this.#past = new ProjectRecall(options)
    this.#memories = new ClientMemories(options)
  }

  async call({ name, arguments: given, _meta }: Parameters, client: string): Promise<unknown> {
    const input = Object(given)
    const id = Object(_meta)[CALL_ID]
    try {
      if (name === "recall")
        return toolResult(await this.#recall(input, { client, ...(isCallId(id) ? { call: id } : {}) }))
      if (name === "memory") return toolResult({ content: await this.#memories.act(input as MemoryAction, client) })
    } catch (error) {
      return toolResult({ content: errorReason(error), isError: true })
    }
    throw new ProtocolError(ERRORS.params, `There is no tool ${inlineUpTo(MAX_TITLE, String(name))}.`)
  }

  async read({ uri }: Parameters): Promise<unknown> {
    return { contents: [{ uri, mimeType: "text/plain", text: await this.#resource(String(uri)) }] }
  }

  async prompt({ name, arguments: given }: Parameters, client: string): Promise<unknown> {
    if (name === "memories") return message(listText(await this.#memories.all()))
    const { about } = Object(given)
    if (name !== "recall" || typeof about !== "string" || about.trim() === "")
      throw new ProtocolError(ERRORS.params, 'The prompts are "memories", and "recall" with the argument "about".')
    const { content } = await this.#recall({ search: about, in: "project", budget: PROMPT_TOKENS }, { client })
    return message(
      `${textIn(content)}\n\nWhat was decided or found about ${inline(about)}? Answer from these quotations, name their handles, and say what they leave open.`,
    )
  }

  async close(): Promise<void> {
    this.#past.close()
    await this.#memories.close()
  }

  async #recall(
    { in: where = "project", ...input }: Record<string, unknown>,
    asker: RecallClient,
  ): Promise<ToolOutput> {
    const past = this.#past.sourceFor(asker)
    const { search } = input
    const budget = Math.max(MIN_BUDGET, Number(input.budget) || DEFAULT_BUDGET)
    const within = (tokens: number) => (text: string) => past.estimate(text) <= tokens
    if (where === "memories") {
      if (typeof search !== "string" || search === "") return { content: "search must be a text.", isError: true }
      const found = await this.#memories.search(search, { fits: within(budget) })
      return { content: found || `No memory fits ${inlineUpTo(MAX_TITLE, search)}. Try other words.` }
    }
    const question = { ...input, in: where } as RecallInput
    if (where !== "project" || typeof search !== "string" || search === "") return runRecall(question, past)
    // the search works even if memory is off
    const memories = await this.#memories
      .search(search, { limit: MAX_MEMORIES, mustFit: true, fits: within(budget * MEMORY_BUDGET_SHARE) })
      .catch(() => "")
    const output = await runRecall({ ...question, budget: budget - Math.ceil(past.estimate(memories)) }, past)
    return memories === "" ? output : { ...output, content: `${memories}\n\n${textIn(output.content)}` }
  }

  async #resource(uri: string): Promise<string> {
    if (uri === CONVERSATIONS) return this.#conversations()
    if (uri === MEMORIES) return listText(await this.#memories.all())
    if (uri.startsWith(`${MEMORIES}/`)) return this.#memories.read(decodeURIComponent(uri.slice(MEMORIES.length + 1)))
    throw new ProtocolError(ERRORS.params, `There is no resource ${inlineUpTo(MAX_TITLE, uri)}.`)
  }

  async #conversations(): Promise<string> {
    const others = (await this.#past.transcripts()).map(({ program, id, touched, title }) => ({
      ...{ program, id, touched, title },
    }))
    const own = (await this.#past.storedConversations()).map(({ id, touched, facts, firstWords }) => ({
      ...{ program: "strata", id, touched: Date.parse(touched), title: facts?.title ?? firstWords },
    }))
    const all = [...others, ...own].sort((a, b) => b.touched - a.touched)
    const lines = all.slice(0, MAX_LISTED).map(({ program, id, touched, title }) => {
      const about = title ? `: ${inlineUpTo(MAX_TITLE, maskSecrets(title))}` : ""
      return `${shortConversationId(id)} · ${program} · ${new Date(touched).toISOString().slice(0, 16).replace("T", " ")}${about}`
    })
    return lines.length === 0 ? "This project has no conversations yet." : lines.join("\n")
  }
}

const message = (text: string) => ({ messages: [{ role: "user", content: { type: "text", text } }] })

function textIn(content: ToolOutput["content"]): string {
  if (typeof content === "string") return content
  return content.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n\n")
}

/** The result in MCP's format: texts, and images from the history. */
function toolResult({ content, isError = false }: ToolOutput) {
  const images = (typeof content === "string" ? [] : content).flatMap((block) =>
    isMedia(block) && block.type === "image" && block.source.type === "base64"
      ? [{ type: "image", data: block.source.data, mimeType: block.source.media_type }]
      : [],
  )
  return { content: [{ type: "text", text: textIn(content) }, ...images], ...(isError ? { isError } : {}) }
}
