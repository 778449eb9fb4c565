/**
 * Layer 2: clears old tool results that a tool can produce again. It runs before every request and costs no model call: by time, inside
 * the server's cache, by size, or by asking the server. The table here decides which of these applies, each chooses in a file of its own,
 * and `clearing.ts` makes the decisions. A person can clear too: `by-hand.ts`.
 *
 * A result is cleared whole and once. Where thinking is bound to what comes before it, the thinking is dropped too.
 */

import { grouped } from "../../base/grouped.ts"
import { oneLater } from "../../base/one-later.ts"
import type { DecisionDraft, DecisionOf, Draft } from "../../journal/entries.ts"
import type { SwitchName } from "../../settings/flag-names.ts"
import type { Flags } from "../../settings/flags.ts"
import type { ModelAccepts } from "../../tokens/model-facts.ts"
import type { Layer, LayerContext, Outcome, UpcomingCompaction } from "../layer.ts"
import { askServer, triggerFor } from "./by-api.ts"
import { deletions, whyLost } from "./by-cache-edit.ts"
import { clearBlocked } from "./by-hand.ts"
import { selectBySize } from "./by-size.ts"
import { selectByTime } from "./by-time.ts"
import { clearing, NOTHING, WITH_OTHERS } from "./clearing.ts"
import { isFollowed, survey } from "./survey.ts"

interface MicrocompactionOptions {
  /** Called with the results that are no longer in view, so that files they showed can be read again. */
  readonly onCleared?: (toolUseIds: readonly string[]) => void
  /** False in sub-agents: they share their parent's cache and must not delete in it. Default true. */
  readonly isMain?: boolean
  /** What a compaction would do here with the summary that is ready. Clearing shortly before it would be pointless. Default: nothing. */
  readonly compacts?: (context: LayerContext) => UpcomingCompaction | undefined
  /** False where the sender of requests leaves `context_management` and `betas` out. Default true. */
  readonly serverClears?: boolean
}

export function microcompaction(options: MicrocompactionOptions = {}): Layer {
  const { onCleared, compacts = () => undefined, isMain = true, serverClears = true } = options
  const place = { isMain, serverClears }
  const later = oneLater()
  return {
    name: "microcompact",

    beforeRequest: async (context) => outcomeOf(decide(context, mechanismsHere(context, place), compacts(context))),

    whenBlocked: async (context) => (context.flags.on["clear-by-size"] ? outcomeOf(clearBlocked(context)) : undefined),

    /** Reads what is new, so that the next request need not. */
    async afterResponse({ views, flags }) {
      if (!isFollowed(views)) return undefined
      await later()
      survey({ views, flags })
      return undefined
    },

    requestExtras(context, sender) {
      return mechanismsHere(context, place).has("by-api") ? askServer(context, sender) : undefined
    },
  }

  function outcomeOf(drafts: readonly DecisionDraft[]): Outcome | undefined {
    if (drafts.length === 0) return undefined
    const cleared = clearedIn(drafts).flatMap(({ toolUseIds }) => toolUseIds)
    return {
      drafts,
      message: ({ saved }) => messageFor(drafts, saved),
      counts: clearedCounts(drafts),
      async journaled() {
        if (cleared.length > 0) onCleared?.(cleared)
      },
    }
  }
}

/** Tokens that the next request will probably leave out. */
export const clearedNext = (context: LayerContext): number =>
  clearedIn(decide(context, mechanismsHere(context, { isMain: true, serverClears: true }))).reduce(
    (sum, { effect }) => sum + (effect?.saves ?? 0),
    0,
  )

function messageFor(drafts: readonly Draft[], saved: number): string {
  const decisions = clearedIn(drafts)
  const count = decisions.reduce((sum, { toolUseIds }) => sum + toolUseIds.length, 0)
  if (count === 0) return `Old images and documents were left out: ${grouped(saved)} tokens saved.`
  const results = count === 1 ? "1 old tool result was" : `${count} old tool results were`
  const tokens = `${grouped(saved)} tokens saved.`
  if (decisions.some(({ why }) => why === "cache-edit")) return `${results} deleted in the server's cache: ${tokens}`
  const isMove = drafts.some(
    (draft) => draft.type === "strata" && draft.subtype === "cache-edits-dropped" && draft.why !== WITH_OTHERS,
  )
  return isMove ? `${results} cleared here: the cache they were deleted in is gone.` : `${results} cleared: ${tokens}`
}

/** At most one mechanism acts. Deletions in a cache that is gone are repeated here first, with any switches. */
function decide(
  context: LayerContext,
  inForce: ReadonlySet<MechanismName>,
  compacts?: UpcomingCompaction,
): DecisionDraft[] {
  if (compacts?.isNow) return []
  const old = inForce.has("by-time") ? selectByTime(context) : NOTHING
  if (old.toolUseIds.length > 0) return clearing(context, old, { why: "idle" })
  const lost = whyLost(context)
  if (lost !== undefined) return clearing(context, NOTHING, { why: "idle", lost })
  const deleted = inForce.has("by-cache-edit") ? deletions(context) : []
  if (deleted.length > 0) return deleted
  return inForce.has("by-size") ? clearing(context, selectBySize(context, compacts?.worth), { why: "size" }) : []
}

function mechanismsHere(
  context: LayerContext,
  { isMain, serverClears }: Required<Pick<MicrocompactionOptions, "isMain" | "serverClears">>,
): ReadonlySet<MechanismName> {
  const { facts, flags } = context
  const serverHasRoom = serverClears && triggerFor(context) > flags.figures["api-clear-keep"]
  return mechanismsFor({ accepts: facts.accepts, isMain, serverHasRoom }, flags)
}

type WhyCleared = DecisionOf<"tool-results-cleared">["why"]
const MECHANISMS: Readonly<Record<WhyCleared, string>> = {
  idle: "by-time",
  "cache-edit": "by-cache-edit",
  size: "by-size",
  asked: "by-hand",
  api: "by-api",
}

/** For telemetry: how many results each mechanism cleared. */
export function clearedCounts(drafts: readonly Draft[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { why, toolUseIds } of clearedIn(drafts)) {
    const name = `results.cleared.${MECHANISMS[why]}`
    counts[name] = (counts[name] ?? 0) + toolUseIds.length
  }
  return counts
}

const clearedIn = (drafts: readonly Draft[]): DecisionOf<"tool-results-cleared">[] =>
  drafts.flatMap((draft) => (draft.type === "strata" && draft.subtype === "tool-results-cleared" ? draft : []))

type MechanismName = "by-time" | "by-cache-edit" | "by-api" | "by-size"

/** What the choice of a mechanism depends on. */
interface Circumstances {
  readonly accepts: ModelAccepts
  /** Sub-agents read what their parent wrote to the cache, and must not delete in it. */
  readonly isMain: boolean
  /** The window is large enough for the server to clear well before a compaction. */
  readonly serverHasRoom: boolean
}

interface Mechanism {
  readonly name: MechanismName
  readonly switch: SwitchName
  readonly fits: (here: Circumstances) => boolean
  /** It does not apply where one of these does. */
  readonly insteadOf?: readonly MechanismName[]
  readonly why: string
}

/**
 * Which mechanism applies to which model. At most one of those decided here acts before a request: the first in this table that has
 * something to do. What the server is asked to clear comes on top.
 */
export const POLICY: readonly Mechanism[] = [
  {
    name: "by-time",
    switch: "clear-by-time",
    fits: () => true,
    why: "after a long pause the cache is gone, so clearing costs nothing",
  },
  {
    name: "by-cache-edit",
    switch: "clear-by-cache-edit",
    fits: ({ accepts, isMain }) => accepts.cacheEditing && isMain,
    why: "results are deleted inside the cache: nothing changes here, and nothing is written again",
  },
  {
    name: "by-api",
    switch: "clear-by-api",
    fits: ({ accepts, serverHasRoom }) => accepts.contextManagement && serverHasRoom,
    why: "the server clears what it holds; nothing changes here, and thinking stays bound",
  },
  {
    name: "by-size",
    switch: "clear-by-size",
    fits: () => true,
    insteadOf: ["by-cache-edit", "by-api"],
    why: "the last resort before a compaction, and only where it pays",
  },
]

/** The mechanisms in force, in the order of the table. */
export function mechanismsFor(here: Circumstances, { on }: Pick<Flags, "on">): ReadonlySet<MechanismName> {
  const inForce = new Set<MechanismName>()
  for (const { name, switch: flag, fits, insteadOf = [] } of POLICY) {
    if (fits(here) && !insteadOf.some((other) => inForce.has(other)) && on[flag]) inForce.add(name)
  }
  return inForce
}
