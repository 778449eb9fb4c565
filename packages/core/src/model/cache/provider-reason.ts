/** What the provider says about a lost cache, where it was asked, and whether that is what was found here. */
import type { CacheCause, ProviderReason } from "./verdict.ts"

const CHANGED: ReadonlyMap<unknown, ProviderReason["changed"]> = new Map([
  ["model_changed", "model"],
  ["system_changed", "system"],
  ["tools_changed", "tools"],
  ["messages_changed", "messages"],
] as const)

/** `undefined` where the provider saw no change, or cannot say. */
export function providerReason(diagnostics: unknown): ProviderReason | undefined {
  const { cache_miss_reason: reason } = (diagnostics ?? {}) as { readonly cache_miss_reason?: unknown }
  const { type, cache_missed_input_tokens: tokens } = (reason ?? {}) as Readonly<Record<string, unknown>>
  const changed = CHANGED.get(type)
  return changed && { changed, ...(typeof tokens === "number" ? { tokens } : {}) }
}

/** A cause that is no change of bytes says nothing about what the provider compares. */
export function agrees({ changed }: ProviderReason, cause: CacheCause): boolean {
  if (cause.kind === "prompt") return changed !== "model"
  if (cause.kind === "forgotten-thinking") return changed === "messages"
  return cause.kind === "changed" && (cause.part === changed || cause.part === "settings" || cause.part === "betas")
}
