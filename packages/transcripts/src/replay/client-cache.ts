/**
 * How the recording's client used the prompt cache, read from its usage: whether it cached at all, for how long, and where the
 * breakpoints of its prompt are. These are facts about the client. They hold for every policy that replays the recording.
 */
import type { CacheLifetime, Usage } from "@strata/core"
import type { CacheInput, Caching, PromptItem } from "./cache-model.ts"
import type { RecordedRequest } from "./recorded-steps.ts"
import type { SentMessage } from "./server-copy.ts"

const PROMPT_MARKS = 2 // clients mark the prompt at most twice and leave the other two breakpoints for messages
const ALIKE = 0.02 // reads closer than this ended at the same breakpoint: a prompt changes a little between requests
const AUTOMATIC_LIFETIME: CacheLifetime = "1h" // most reads after pauses of 5 to 60 minutes hit, few after longer ones

export interface ClientCache {
  readonly caching: Caching
  /** By request. */
  readonly lifetimes: readonly CacheLifetime[]
  /** Where breakpoints of the prompt are, in tokens from the start. Empty where no read shows one. */
  readonly promptMarks: readonly number[]
  /** What the first request read: another conversation had cached it. */
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
    promptMarks: marksIn(usages, { firstRead, prompt: Math.min(smallest, prompts[first] ?? 0) }),
    firstRead,
  }
}

/** The same client with a breakpoint at the end of its prompt, wherever that is. */
export function markingPromptEnd(client: ClientCache): ClientCache {
  const { promptMarks } = client
  return promptMarks.length === 0 ? client : { ...client, promptMarks: [...promptMarks, Number.POSITIVE_INFINITY] }
}

/** A request as the cache sees it: the parts of the prompt, then all blocks, and where the last requests ended. */
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
function promptItems({ promptMarks }: ClientCache, prompt: number) {
  if (promptMarks.length === 0) return { items: [{ tokens: prompt }], promptParts: 1 }
  const ends = [...promptMarks.map((mark) => Math.min(mark, prompt)), prompt]
  const items: readonly PromptItem[] = ends.map((end, i) => ({ tokens: end - (ends[i - 1] ?? 0) }))
  return { items, promptParts: promptMarks.length }
}

export const readOf = (usage: Usage | undefined) => usage?.cache_read_input_tokens ?? 0
const writtenBy = (usage: Usage) => usage.cache_creation_input_tokens ?? 0

function cachingIn(usages: readonly Usage[]): Caching {
  if (usages.some((usage) => writtenBy(usage) > 0)) return "marked"
  if (usages.some((usage) => readOf(usage) > 0)) return "automatic"
  return usages.length > 0 ? "none" : "marked"
}

/** A request that wrote nothing keeps the lifetime of the request before it. */
function lifetimesIn(requests: readonly RecordedRequest[]): readonly CacheLifetime[] {
  const shown = requests.map(({ usage }) => usage && lifetimeIn(usage))
  let current = shown.find((lifetime) => lifetime !== undefined) ?? "5m"
  return shown.map((lifetime) => {
    current = lifetime ?? current
    return current
  })
}

/** Usage without the split is older than the lifetime of an hour. */
function lifetimeIn(usage: Usage): CacheLifetime | undefined {
  const written = writtenBy(usage)
  if (written === 0) return undefined
  return (usage.cache_creation?.ephemeral_1h_input_tokens ?? 0) * 2 > written ? "1h" : "5m"
}

interface PromptReads {
  readonly firstRead: number
  readonly prompt: number
}

/** Reads that end within the prompt show its breakpoints. The first read counts most, then the most frequent ones. */
function marksIn(usages: readonly Usage[], { firstRead, prompt }: PromptReads): readonly number[] {
  const reads = usages.map(readOf).filter((read) => read > 0 && read <= prompt)
  const frequent = [...Map.groupBy(reads, (read) => read)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([read]) => read)
  const candidates = firstRead > 0 && firstRead <= prompt ? [firstRead, ...frequent] : frequent
  const marks: number[] = []
  for (const read of candidates)
    if (marks.length < PROMPT_MARKS && !marks.some((mark) => Math.abs(mark - read) <= ALIKE * mark)) marks.push(read)
  return marks.sort((a, b) => a - b)
}
