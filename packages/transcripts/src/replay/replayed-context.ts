/** The conversation as layers see it in a replay. */
import type { seededIds } from "@strata/core/base"
import type { LayerContext } from "@strata/core/policy"
import type { Flags, Settings } from "@strata/core/settings"
import type { Journal } from "@strata/core/store"
import { compactionAllowed, windowUsageOf } from "@strata/core/tokens"
import { buildRequest, type Views } from "@strata/core/views"
import type { AskedModel } from "./asked-models.ts"

interface ReplayedContextParts extends Pick<LayerContext, "prior" | "meanwhile" | "now"> {
  readonly asked: AskedModel
  readonly views: Views
  readonly settings: Settings
  readonly flags: Flags
  readonly journal: Journal
  readonly ids: ReturnType<typeof seededIds>
  /** Else the recording's own compactions stay. */
  readonly compactsItself: boolean
}

export function replayedContext(parts: ReplayedContextParts): LayerContext {
  const { asked, views, settings, flags, journal, ids, compactsItself, ...rest } = parts
  const { name, lookup, thresholds } = asked
  const { context } = views
  const size = context.size()
  const { auto } = compactionAllowed(settings)
  const allowed = compactsItself && auto
  return {
    ...{ ...rest, views, size, thresholds, flags, journal },
    conversation: journal.address.id,
    model: name,
    facts: lookup.facts,
    thresholdsOf: () => thresholds,
    fill: windowUsageOf(size.tokens, thresholds, auto),
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
    isOnlyOpened: false,
    progress: () => undefined,
  }
}
