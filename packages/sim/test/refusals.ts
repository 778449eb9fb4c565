/** Builders of refused bodies, and a client that expects a refusal. */
import Anthropic from "@anthropic-ai/sdk"
import type { Simulator } from "../src/start.ts"
import { client, hello } from "./simulator.ts"

export interface RefusalCase {
  /** The name of a rule, or a restriction of the schema or the headers. */
  readonly refused: string
  readonly body: Record<string, unknown>
  readonly message: string
  readonly code?: string
  readonly status?: number
  readonly betas?: string[]
  readonly headers?: Record<string, string | null>
  readonly count?: boolean
}

export const OLD_API = { "anthropic-version": "2023-06-01" }
export const user = (content: unknown) => ({ role: "user", content })
export const assistant = (content: unknown) => ({ role: "assistant", content })
export const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more })
export const toolUse = (id: string) => ({ type: "tool_use", id, name: "look", input: {} })
export const toolResult = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "seen" })
export const tool = { name: "look", input_schema: { type: "object" } }
export const marked = { cache_control: { type: "ephemeral" } }
export const markedFor1h = { cache_control: { type: "ephemeral", ttl: "1h" } }
export const messages = (...list: object[]) => hello({ messages: list })
export const TINY_PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
export const png = (width: number, height: number) => {
  const bytes = Buffer.from(TINY_PNG, "base64")
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes.toString("base64")
}
export const image = (data: string, media_type = "image/png") => ({
  type: "image",
  source: { type: "base64", media_type, data },
})

/** The error of a request. Throws if the request is accepted. */
export async function refusal(sim: Simulator, { body, betas, headers = {}, count }: RefusalCase) {
  const api = client(sim).beta.messages
  const params = { ...body, ...(betas && { betas }) } as never
  const sent = count ? api.countTokens(params, { headers }) : api.create(params, { headers, timeout: 10_000 })
  const error = await sent.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Anthropic.APIError)) throw new Error(`not refused: ${JSON.stringify(body)}`, { cause: error })
  return error
}
