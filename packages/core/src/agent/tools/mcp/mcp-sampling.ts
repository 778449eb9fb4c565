/**
 * Handles sampling requests of a server. The model receives only what the server sent: no tools, and nothing of the conversation. The user
 * agrees once per server and conversation, unless the settings decide.
 */
import type {
  CreateMessageRequest,
  CreateMessageResult,
  SamplingMessageContentBlock,
} from "@modelcontextprotocol/client"
import { escapeInvisible } from "../../../base/text.ts"
import type { Block } from "../../../messages/blocks.ts"
import type { SampleModel, SamplingRequest, ToolContext } from "../../../tools/tool.ts"
import type { McpServerConfig } from "./mcp-config.ts"

type AskPerson = NonNullable<ToolContext["promptUser"]>

const MAX_TOKENS = 4_096 // of a response
const MAX_A_MINUTE = 10
const MINUTE_MS = 60_000
const IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])

export interface SamplingDependencies {
  readonly server: string
  readonly config: Pick<McpServerConfig, "sampling">
  /** `undefined` if no model is available. */
  readonly model: SampleModel | undefined
  readonly now: () => number
}

export interface SamplingCall {
  readonly promptUser: AskPerson | undefined
  readonly signal: AbortSignal
}

/** Reason for refusing a request, as a sentence for the server. */
class SamplingRefused extends Error {
  readonly code = -1 // the protocol's code for a request that the user rejects
}

export class McpSampling {
  readonly #parts: SamplingDependencies
  /** The user's answer. */
  #isAgreed: Promise<boolean> | undefined
  #times: number[] = []

  constructor(parts: SamplingDependencies) {
    this.#parts = parts
  }

  /** Whether sampling is offered to the server. */
  get isOffered(): boolean {
    const { config, model } = this.#parts
    if (!model || config.sampling === "deny") return false
    return config.sampling === "allow" || model.canAsk
  }

  async answer(params: CreateMessageRequest["params"], call: SamplingCall): Promise<CreateMessageResult> {
    const { model, server } = this.#parts
    if (!model || !this.isOffered) throw new SamplingRefused("Strata does not let this server use its model.")
    const sample = sampleOf(params)
    this.#count()
    if (!(await this.#isAllowed(call.promptUser)))
      throw new SamplingRefused("The user did not allow this server to use the model.")
    const answer = await model.ask({ ...sample, server }, call.signal)
    return {
      role: "assistant",
      model: answer.model,
      content: { type: "text", text: answer.text },
      stopReason: answer.isCut ? "maxTokens" : "endTurn",
    }
  }

  #count(): void {
    const now = this.#parts.now()
    this.#times = this.#times.filter((time) => now - time < MINUTE_MS)
    if (this.#times.length >= MAX_A_MINUTE)
      throw new SamplingRefused(`A server may ask the model ${MAX_A_MINUTE} times a minute. Try again later.`)
    this.#times.push(now)
  }

  async #isAllowed(promptUser: AskPerson | undefined): Promise<boolean> {
    if (this.#parts.config.sampling === "allow") return true
    if (!promptUser && !this.#isAgreed) return false // without a running call, nobody can be asked
    this.#isAgreed ??= this.#ask(promptUser!)
    return this.#isAgreed
  }

  async #ask(promptUser: AskPerson): Promise<boolean> {
    const name = escapeInvisible(this.#parts.server)
    const answer = await promptUser({
      text: `May the MCP server ${name} use the model in this conversation? It sends its own text and gets the answer, at your cost: at most ${MAX_A_MINUTE} requests a minute.`,
      options: [YES, NO],
    })
    return answer === YES
  }
}

const YES = "Yes, in this conversation"
const NO = "No"

/** Converts the request. The server's wishes for context of the conversation (`includeContext`) and for a model are ignored. */
function sampleOf({
  messages,
  systemPrompt,
  maxTokens,
  tools,
}: CreateMessageRequest["params"]): Omit<SamplingRequest, "server"> {
  if (tools?.length) throw new SamplingRefused("Strata offers no tools to a request of a server.")
  if (messages[0]?.role !== "user") throw new SamplingRefused("The first message must be of the role user.")
  return {
    ...(systemPrompt ? { system: systemPrompt } : {}),
    maxTokens: Math.max(1, Math.min(maxTokens, MAX_TOKENS)),
    messages: messages.map(({ role, content }) => ({
      role,
      content: (Array.isArray(content) ? content : [content]).map(blockOf),
    })),
  }
}

function blockOf(content: SamplingMessageContentBlock): Block {
  if (content.type === "text" && content.text.trim() !== "") return { type: "text", text: content.text }
  if (content.type === "image" && IMAGES.has(content.mimeType))
    return { type: "image", source: { type: "base64", media_type: content.mimeType, data: content.data } } as Block
  throw new SamplingRefused("Only text that is not empty and images (PNG, JPEG, GIF, WebP) can be sent to the model.")
}
