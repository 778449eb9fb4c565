/**
 * How long the caller asks the server to keep what it caches: by breakpoints in the options, or by what the requests of another program
 * wrote, where the conversation comes from one.
 */
import type { CacheHistory } from "../views/cache/cache-history.ts"
import type { ConversationOptions } from "./options.ts"

export function askedLifetime(
  { system, tools, messages }: Pick<ConversationOptions, "system" | "tools" | "messages">,
  { chosen, wroteForAnHour }: Pick<CacheHistory, "chosen" | "wroteForAnHour">,
): "5m" | "1h" | undefined {
  const marks = [...marksIn(system), ...marksIn(tools), ...marksIn(messages)]
  if (marks.length > 0) return marks.includes("1h") ? "1h" : "5m"
  return chosen === undefined && wroteForAnHour ? "1h" : undefined
}

/** In blocks, tools and messages. Functions and other objects have none. */
function marksIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap(marksIn)
  if (typeof value !== "object" || value === null) return []
  const { cache_control: mark, content, message } = value as Readonly<Record<string, unknown>>
  const own = typeof mark === "object" && mark !== null ? [(mark as { ttl?: unknown }).ttl ?? "5m"] : []
  return [...own, ...marksIn(content), ...marksIn(message)]
}
