/** What a message says, whatever its marks and its form: by it a message of ours is known as the caller's, and is measured. */
import { digestOf } from "@strata/core/messages"

export interface MeasuredMessage {
  readonly digest: string
  readonly bytes: number
}

/** Of each message once: a caller's messages never change. */
const known = new WeakMap<object, MeasuredMessage>()

export function measured(message: object): MeasuredMessage {
  const before = known.get(message)
  if (before) return before
  const { role, content } = unmarked(message) as { readonly role?: unknown; readonly content?: unknown }
  const text = JSON.stringify({ role, content })
  const measure = { digest: digestOf(text), bytes: Buffer.byteLength(text) }
  known.set(message, measure)
  return measure
}

/** The block that a client puts in front of its prompt and that the server does not count as part of it. */
const BILLING = /^x-anthropic-billing-header:/

/** Without marks, and a text in its form as a block: both change from request to request. */
export function unmarked(value: unknown): unknown {
  if (Array.isArray(value))
    return value.filter((item) => !BILLING.test(String((item as { text?: unknown } | null)?.text ?? ""))).map(unmarked)
  if (typeof value !== "object" || value === null) return value
  const { cache_control: _, ...rest } = value as Record<string, unknown>
  const content =
    "content" in rest && "role" in rest && typeof rest.content === "string"
      ? [{ type: "text", text: rest.content }]
      : rest.content
  return "content" in rest ? { ...rest, content: Array.isArray(content) ? content.map(unmarked) : content } : rest
}
