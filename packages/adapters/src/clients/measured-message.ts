/**
 * Identifies and measures messages by content, independent of cache breakpoints and form, so that a Strata message is recognized as the
 * client's.
 */
import { digestOf } from "@strata/core/messages"

export interface MeasuredMessage {
  readonly digest: string
  readonly bytes: number
}

/** Measures by message, computed once, because a client's messages never change. */
const known = new WeakMap<object, MeasuredMessage>()

export function measureMessage(message: object): MeasuredMessage {
  const before = known.get(message)
  if (before) return before
  const { role, content } = withoutBreakpoints(message) as { readonly role?: unknown; readonly content?: unknown }
  const text = JSON.stringify({ role, content })
  const measure = { digest: digestOf(text), bytes: Buffer.byteLength(text) }
  known.set(message, measure)
  return measure
}

/** A block that clients put before their prompt and that the server does not count as part of it. */
const BILLING = /^x-anthropic-billing-header:/

/** Removes cache breakpoints and converts text to blocks: both change from request to request. */
export function withoutBreakpoints(value: unknown): unknown {
  if (Array.isArray(value))
    return value
      .filter((item) => !BILLING.test(String((item as { text?: unknown } | null)?.text ?? "")))
      .map(withoutBreakpoints)
  if (typeof value !== "object" || value === null) return value
  const { cache_control: _, ...rest } = value as Record<string, unknown>
  const content =
    "content" in rest && "role" in rest && typeof rest.content === "string"
      ? [{ type: "text", text: rest.content }]
      : rest.content
  return "content" in rest
    ? { ...rest, content: Array.isArray(content) ? content.map(withoutBreakpoints) : content }
    : rest
}
