/** A cache break in one line for a person: what it cost, and why. */
import { grouped } from "../../base/grouped.ts"
import { agrees } from "./provider-reason.ts"
import type { CacheCause, CacheVerdict, ProviderReason } from "./verdict.ts"

export type CacheBreakVerdict = Extract<CacheVerdict, { readonly kind: "break" | "less" }>

const MINUTE_MS = 60_000
const LIFETIMES = { "5m": "5 minutes", "1h": "an hour" } as const

export function describeBreak({ paidAnew, cause, provider }: CacheBreakVerdict): string {
  const { tokens, dollars } = paidAnew
  const cost = dollars === undefined ? "" : ` for $${dollars < 0.01 ? dollars.toFixed(4) : dollars.toFixed(2)} more`
  return `The cache was lost: ${grouped(tokens)} tokens had to be sent again${cost}, because ${reason(cause)}.${provider ? ` ${theirs(provider, cause)}` : ""}`
}

const CHANGED = {
  model: "the model",
  system: "the system prompt",
  tools: "the tools",
  messages: "the messages",
} as const

function theirs(provider: ProviderReason, cause: CacheCause): string {
  const size = provider.tokens === undefined ? "" : `, ${grouped(provider.tokens)} tokens`
  if (agrees(provider, cause)) return `The provider says so too${size}.`
  return `The provider says that ${CHANGED[provider.changed]} changed${size}; compared once more, the requests show no such change here.`
}

function reason(cause: CacheCause): string {
  switch (cause.kind) {
    case "time-to-live":
      return `${pause(cause.idleMs)} had passed, and it is kept for ${LIFETIMES[cause.lifetime]}`
    case "changed":
      return changed(cause)
    case "prompt":
      return "system prompt, tools or instructions changed"
    case "look-back":
      return `${cause.items} blocks had been added since the last request, more than the server looks back over`
    case "forgotten-thinking":
      return "the model drops its earlier thinking when you send a message"
    case "below-minimum":
      return `${grouped(cause.tokens)} tokens are too few for a cache (${grouped(cause.minimum)} are needed)`
    case "provider":
      return "the provider dropped it: nothing had changed here"
  }
}

function changed(cause: Extract<CacheCause, { kind: "changed" }>): string {
  switch (cause.part) {
    case "model":
      return "another model was used"
    case "tools":
      return "the tools changed"
    case "system":
      return "the system prompt changed"
    case "settings":
      return `the setting "${cause.setting}" changed`
    case "messages":
      return `message ${cause.message + 1} changed (block ${cause.block + 1}, byte ${cause.byte})`
    case "betas":
      return "other beta features were requested"
  }
}

function pause(ms: number): string {
  if (!Number.isFinite(ms)) return "a long time"
  const minutes = Math.floor(ms / MINUTE_MS)
  return minutes === 1 ? "1 minute" : `${grouped(minutes)} minutes`
}
