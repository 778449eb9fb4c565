/**
 * The policies that can replay a recording. Each is a list of layers, and the same pipeline runs them as in a conversation. What makes
 * a request valid (markers for empty results, repairs, media limits) is the same in all of them.
 */
import type { FigureName } from "../base/flag-names.ts"
import type { DecisionDraft } from "../journal/entries.ts"
import { toolResultStorage } from "../layers/1-tool-results/tool-result-storage.ts"
import { microcompaction } from "../layers/2-microcompact/microcompaction.ts"
import { READ_LIKE, WRITE_LIKE } from "../layers/2-microcompact/survey.ts"
import type { Layer, LayerContext } from "../layers/layer.ts"
import { isThinking, isToolResult, isToolUse } from "../messages/blocks.ts"
import { contentOf } from "../messages/messages.ts"
import type { ServerMemory } from "./server-copy.ts"

export interface Policy {
  readonly name: string
  readonly about: string
  readonly layers: () => readonly Layer[]
  /** Figures that differ from the defaults. */
  readonly figures: Partial<Record<FigureName, number>>
  /** Whether the server remembers what the policy asked it to clear. */
  readonly server: ServerMemory
}

/** Our tools that keep their results short themselves. */
export const LIMITS_ITSELF = [
  ...["Read", "KillShell", "AskUser"],
  ...["EnterPlanMode", "ExitPlanMode", "Skill", "TodoWrite"],
]

const OUT_OF_REACH = 100_000_000 // characters: the most the figures allow
const NOTHING_PUT_ASIDE = { "tool-result-limit": OUT_OF_REACH, "message-results-limit": OUT_OF_REACH } as const
const CLEARABLE: ReadonlySet<string> = new Set([...READ_LIKE, ...WRITE_LIKE])

const storage = () => toolResultStorage({ limitsItself: LIMITS_ITSELF })

export const NOTHING: Policy = {
  name: "nothing",
  about: "every request sends everything since the last compaction",
  layers: () => [storage()],
  figures: NOTHING_PUT_ASIDE,
  server: "keeps",
}

export const STRATA: Policy = {
  name: "strata",
  about: "layers 1 and 2 with their default figures",
  layers: () => [storage(), microcompaction()],
  figures: {},
  server: "forgets",
}

export const POLICIES: readonly Policy[] = [
  NOTHING,
  {
    ...NOTHING,
    name: "keep-last-10",
    about: "every request shows only the 10 newest tool results",
    layers: () => [storage(), newestResults({ keep: 10, above: 0, only: () => true })],
  },
  {
    ...NOTHING,
    name: "sliding-3",
    about: "above 100K tokens every request clears all clearable results but the newest 3",
    layers: () => [storage(), newestResults({ keep: 3, above: 100_000, only: (tool) => CLEARABLE.has(tool) })],
  },
  STRATA,
]

interface Mask {
  readonly keep: number
  /** It acts once the context has more tokens than this. */
  readonly above: number
  readonly only: (tool: string) => boolean
}

/** Clears all results but the newest few before every request, as many agents do. */
function newestResults({ keep, above, only }: Mask): Layer {
  return {
    name: "newest-results",
    async beforeRequest({ views, size, facts }) {
      if (size.tokens <= above) return undefined
      const { results, lastThinking } = shownResults(views, only)
      const old = results.slice(0, Math.max(0, results.length - keep))
      if (old.length === 0) return undefined
      const drafts: DecisionDraft[] = [
        { type: "strata", subtype: "tool-results-cleared", toolUseIds: old.map(({ id }) => id), why: "size" },
      ]
      if (facts.accepts.boundThinking && lastThinking > old[0]!.at)
        drafts.push({ type: "strata", subtype: "thinking-dropped", why: "tool results before it were cleared" })
      return { drafts }
    },
  }
}

/** Results that are not cleared yet, oldest first, with their place, and the place of the last thinking. */
function shownResults({ context }: LayerContext["views"], only: Mask["only"]) {
  const tools = new Map<string, string>()
  const results: { readonly id: string; readonly at: number }[] = []
  let lastThinking = -1
  let at = 0
  for (const message of context.storedMessages()) {
    if (message.type !== "user" && message.type !== "assistant") continue
    for (const block of contentOf(message)) {
      at++
      if (isToolUse(block)) tools.set(block.id, block.name)
      else if (isThinking(block)) lastThinking = at
      else if (isToolResult(block) && only(tools.get(block.tool_use_id) ?? "") && !context.isCleared(block.tool_use_id))
        results.push({ id: block.tool_use_id, at })
    }
  }
  return { results, lastThinking }
}
