/** How long the server keeps what it caches, in words. */
interface Lifetimes {
  readonly forPrompt: "5m" | "1h"
  readonly forMessages: "5m" | "1h"
}

const WORDS = { "5m": "five minutes", "1h": "an hour" } as const

export function lifetimeWords({ forPrompt, forMessages }: Lifetimes): string {
  if (forPrompt === forMessages) return `everything for ${WORDS[forMessages]}`
  return `tools and system prompt for ${WORDS[forPrompt]}, messages for ${WORDS[forMessages]}`
}
