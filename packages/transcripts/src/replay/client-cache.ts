/**
 * Derives from the recorded usage how the client used the prompt cache: whether it cached, for how long, and the breakpoints of its prompt.
 * These facts about the client hold for every policy that replays the recording.
 */
import type { CacheLifetime, Usage } from "@strata/core"
import type { CacheInput, CachingMode, PromptItem } from "./cache-model.ts"
import type { RecordedRequest } from "./recorded-steps.ts"
import type { SentMessage } from "./server-context.ts"

const MAX_PROMPT_BREAKPOINTS = 2 // clients set at most two breakpoints in the prompt and use the other two for messages
const SAME_BREAKPOINT = 0.02 // reads closer than this ended at the same breakpoint: a prompt changes slightly between requests
const AUTOMATIC_LIFETIME: CacheLifetime = "1h" // most reads after pauses of 5 to 60 minutes hit, few after longer ones

export interface ClientCache {
  readonly caching: CachingMode
  /** Cache lifetime of each request. */
  readonly lifetimes: readonly CacheLifetime[]
  /** Breakpoints in the prompt, in tokens from the start. Empty if no read reveals one. */
  readonly promptBreakpoints: readonly number[]
  /** Tokens that the first request read, which another conversation had cached. */
  readonly firstRead: number
}

/** `prompts`: tokens of system prompt and tools, by request. No read of the prompt alone is longer. */
export function clientCacheOf(requests: readonly RecordedRequest[], prompts: readonly number[]): ClientCache {
  const usages = requests.flatMap(({ usage }) => usage ?? [])
  const first = requests.findIndex(({ usage }) => usage)
  const firstRead = readOf(usages[0])
  const caching = cachingIn(usages)
  const smallest = requests.reduce((min, { counted }) => Math.min(min, counted?.input ?? min), Infinity)
  return {
    caching,
    lifetimes: caching === "automatic" ? requests.map(() => AUTOMATIC_LIFETIME) : lifetimesIn(requests),
    promptBreakpoints: findPromptBreakpoints(usages, { firstRead, prompt: Math.min(smallest, prompts[first] ?? 0) }),
    firstRead,
  }
}

/** Returns the same client with an additional breakpoint at the end of its prompt. */
export function withPromptBreakpoint(client: ClientCache): ClientCache {
  const { promptBreakpoints } = client
  return promptBreakpoints.length === 0
    ? client
    : { ...client, promptBreakpoints: [...promptBreakpoints, Number.POSITIVE_INFINITY] }
}

/** A request as the cache model needs it: the parts of the prompt, then all blocks, and where the last requests ended. */
export function cachedPrefix(
  client: ClientCache,
  { messages, prompt }: { readonly messages: readonly SentMessage[]; readonly prompt: number },
): Pick<CacheInput, "items" | "promptParts" | "before" | "answered"> {
  const { items, promptParts } = promptItems(client, prompt)
  const answer = messages.findLastIndex(({ role }) => role === "assistant")
  const itemsIn = (count: number) =>
    messages.slice(0, count).reduce((sum, each) => sum + each.items.length, items.length)
  return {
    items: [...items, ...messages.flatMap((message) => message.items)],
    promptParts,
    before: itemsIn(Math.max(0, answer)),
    answered: itemsIn(answer + 1),
  }
}

/** One item for each breakpoint of the prompt, and one for the rest. */
function promptItems({ promptBreakpoints }: ClientCache, prompt: number) {
  if (promptBreakpoints.length === 0) return { items: [{ tokens: prompt }], promptParts: 1 }
  const ends = [...promptBreakpoints.map((mark) => Math.min(mark, prompt)), prompt]
  const items: readonly PromptItem[] = ends.map((end, i) => ({ tokens: end - (ends[i - 1] ?? 0) }))
  return { items, promptParts: promptBreakpoints.length }
}

export const readOf = (usage: Usage | undefined) => usage?.cache_read_input_tokens ?? 0
const writtenBy = (usage: Usage) => usage.cache_creation_input_tokens ?? 0

function cachingIn(usages: readonly Usage[]): CachingMode {
  if (usages.some((usage) => writtenBy(usage) > 0)) return "marked"
  if (usages.some((usage) => readOf(usage) > 0)) return "automatic"
  return usages.length > 0 ? "none" : "marked"
}

/** Lifetimes by request. A request that wrote nothing has the lifetime of the request before it. */
function lifetimesIn(requests: readonly RecordedRequest[]): readonly CacheLifetime[] {
  const shown = requests.map(({ usage }) => usage && lifetimeIn(usage))
  let current = shown.find((lifetime) => lifetime !== undefined) ?? "5m"
  return shown.map((lifetime) => {
    current = lifetime ?? current
    return current
  })
}

/** Usage without a per-lifetime split predates the one-hour cache, so it means five minutes. */
function lifetimeIn(usage: Usage): CacheLifetime | undefined {
  const written = writtenBy(usage)
  if (written === 0) return undefined
  return (usage.cache_creation?.ephemeral_1h_input_tokens ?? 0) * 2 > written ? "1h" : "5m"
}

interface PromptReads {
  readonly firstRead: number
  readonly prompt: number
}

/** Finds the breakpoints of the prompt: reads that end within it. The first read has priority, then the most frequent ones. */
function findPromptBreakpoints(usages: readonly Usage[], { firstRead, prompt }: PromptReads): readonly number[] {
  const reads = usages.map(readOf).filter((read) => read > 0 && read <= prompt)
  const frequent = [...Map.groupBy(reads, (read) => read)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([read]) => read)
  const candidates = firstRead > 0 && firstRead <= prompt ? [firstRead, ...frequent] : frequent
  const breakpoints: number[] = []
  for (const read of candidates)
    if (
      breakpoints.length < MAX_PROMPT_BREAKPOINTS &&
      !breakpoints.some((mark) => Math.abs(mark - read) <= SAME_BREAKPOINT * mark)
    )
      breakpoints.push(read)
  return breakpoints.sort((a, b) => a - b)
}
