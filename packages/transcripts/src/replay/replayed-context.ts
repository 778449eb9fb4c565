/** The context of a replayed conversation, as its layers see it. */
import type { seededIds } from "@strata/core/base"
import type { LayerContext } from "@strata/core/policy"
import type { Flags, Settings } from "@strata/core/settings"
import type { Journal } from "@strata/core/store"
import { allowedCompaction, computeWindowUsage } from "@strata/core/tokens"
import { buildRequest, type Views } from "@strata/core/views"
import type { ReplayedModel } from "./replayed-models.ts"

interface ReplayedContextInput extends Pick<LayerContext, "prior" | "runInBackground" | "now"> {
  readonly asked: ReplayedModel
  readonly views: Views
  readonly settings: Settings
  readonly flags: Flags
  readonly journal: Journal
  readonly ids: ReturnType<typeof seededIds>
  /** Otherwise the recording's own compactions stay. */
  readonly compactsItself: boolean
}

export function replayedContext(parts: ReplayedContextInput): LayerContext {
  const { asked, views, settings, flags, journal, ids, compactsItself, ...rest } = parts
  const { name, lookup, thresholds } = asked
  const { context } = views
  const size = context.size()
  const { auto } = allowedCompaction(settings)
  const allowed = compactsItself && auto
  return {
    ...{ ...rest, views, size, thresholds, flags, journal },
    conversation: journal.address.id,
    model: name,
    facts: lookup.facts,
    thresholdsOf: () => thresholds,
    fill: computeWindowUsage(size.tokens, thresholds, auto),
    compaction: { auto: allowed, manual: allowed },
    newUuid: () => ids.uuid(),
    request: async () =>
      buildRequest({
        model: name,
        maxTokens: settings.maxOutputTokens,
        system: context.prompt?.system,
        tools: context.prompt?.tools,
        messages: context.messages().messages,
      }),
    signal: new AbortController().signal,
    canRecall: context.toolNames.includes("Recall"),
    isIdleSinceOpening: false,
    progress: () => undefined,
  }
}
