/**
 * Layer 4: when the window fills, the conversation is replaced by a summary, the facts, and what is needed to go on. Plan, then act: what
 * comes out must be worth it, and only then anything is journaled, all at once. Whatever fails leaves the conversation as it was.
 */
import { CompactionFailedError } from "../../base/errors.ts"
import type { Draft } from "../../journal/entries.ts"
import type { Accounting } from "../../tokens/accounting.ts"
import { unlessInterrupted } from "../../tools/interruption.ts"
import { accountSent } from "../../views/context/sent-accounting.ts"
import { type CompactionOrder, type PlannedCompaction, ROUTES, type RouteName } from "../compaction-order.ts"
import type { Layer, Turn } from "../layer.ts"
import { ahead } from "./ahead.ts"
import { type Attempt, attempt, grouped, ROUTE_WORDS } from "./attempt.ts"
import { type CompactionOptions, realTime } from "./options.ts"
import { planOf } from "./plan.ts"
import { direct } from "./routes/direct.ts"
import { fromNotes } from "./routes/from-notes.ts"
import type { Route } from "./routes/route.ts"
import { shared } from "./routes/shared.ts"
import { assess, type Refused } from "./situation.ts"

const ALIVE_MS = 30_000 // L4-14
const BY_HAND: readonly RouteName[] = ["shared", "direct", "offline"] // L4-24: notes only if asked for

/** What was decided, until it is in the journal. */
type Installing = Required<Attempt>["success"] & Pick<CompactionOrder, "trigger"> & { readonly content: Accounting }

export function compaction(options: CompactionOptions): Layer {
  const { reads, hooks, timing = realTime } = options
  const prepared = options.parent && ahead(options.parent)
  const routes = [
    prepared?.route,
    options.notes && fromNotes({ source: options.notes, wait: timing.wait }),
    options.parent && shared(options.parent),
    options.parent && direct(options.summariser ?? options.parent.model),
    options.offline,
  ].filter((route): route is Route => route !== undefined)
  /** What is to be done once the drafts are in the journal. */
  let installing: Installing | undefined
  /** Refusals that the person has heard of. */
  const told = new Set<string>()

  return {
    name: "compaction",

    async beforeRequest(turn) {
      return turn.fill.state === "compact" || turn.fill.state === "blocked" ? compact(turn, { trigger: "auto" }) : []
    },

    compact,

    async planCompaction(turn, order): Promise<PlannedCompaction> {
      const situation = await assess(turn, order)
      if ("refused" in situation) return { kind: "refused", why: situation.refused, message: situation.message }
      return { kind: "plan", plan: await planOf(situation, routesFor(order), options) }
    },

    async afterResponse(turn) {
      return prepared && turn.compaction.auto ? prepared.prepare(turn, options.guidance?.() ?? []) : []
    },

    /** L4-21: what was known of the old view is forgotten; what stands in the new one is known again. */
    async acted(drafts, turn) {
      const done = drafts.find((draft) => draft.type === "strata" && draft.subtype === "compacted")
      if (!installing || done?.type !== "strata" || done.subtype !== "compacted") return
      const { after, summary, trigger, content } = installing
      installing = undefined
      prepared?.forget()
      for (const [path] of [...(reads?.entries() ?? [])]) reads?.forget(path)
      for (const [path, read] of after.reads) reads?.set(path, read)
      const { tokensBefore, tokensAfter } = done
      turn.progress({ phase: "done", route: done.route as RouteName, tokensBefore, tokensAfter, content })
      const said = await hooks?.after({ trigger, summary })
      for (const message of said?.messages ?? []) turn.progress({ phase: "message", message })
    },

    describe(drafts) {
      for (const draft of drafts) {
        if (draft.type !== "strata") continue
        if (draft.subtype === "compacted")
          return `Compacted: ${grouped(draft.tokensBefore)} to ${grouped(draft.tokensAfter)} tokens, ${ROUTE_WORDS[draft.route as RouteName]}.`
        if (draft.subtype === "compaction-failed") return draft.message
      }
      return undefined
    },
  }

  async function compact(turn: Turn, order: CompactionOrder): Promise<readonly Draft[]> {
    if (order.overflowed && !(await turn.flags.isOn("compact-reactive"))) return refuse(SWITCHED_OFF, turn, order)
    const situation = await assess(turn, order)
    if ("refused" in situation) return refuse(situation, turn, order)
    turn.progress({ phase: "preparing" })
    const stop = timing.every(ALIVE_MS, aliveFrom(turn))
    try {
      const before = await askHooks(turn, order)
      if (before.blocked !== undefined) return refuse(blockedBy(before.blocked), turn, order)
      const instructions = before.instructions
      const { drafts, success } = await attempt({ situation, routes: routesFor(order), instructions, options })
      installing = success && { ...success, trigger: order.trigger, content: accountSent(turn.views) }
      return drafts
    } finally {
      stop()
    }
  }

  /** L4-11, L4-26: the user's instructions first, those of hooks after. */
  async function askHooks(turn: Turn, { trigger, instructions = "" }: CompactionOrder) {
    const own = [instructions, ...(options.guidance?.() ?? [])].filter((text) => text.trim() !== "")
    if (!hooks) return { instructions: own, blocked: undefined }
    const asked = await unlessInterrupted(turn.signal, hooks.before({ trigger, instructions: own.join("\n\n") }))
    if (asked.state === "interrupted") throw turn.signal.reason
    const answer = asked.value
    for (const message of answer.messages) turn.progress({ phase: "message", message })
    return { instructions: [answer.instructions].filter((text) => text !== ""), blocked: answer.blocked }
  }

  function routesFor({ trigger, routes: wanted }: CompactionOrder): readonly Route[] {
    const names = wanted ?? (trigger === "manual" ? BY_HAND : ROUTES)
    return routes.filter(({ name }) => names.includes(name))
  }

  /** Whoever asked gets a refusal as an answer; an automatic one is said once, where the person can do something about it. */
  function refuse({ refused, message }: Refused, turn: Turn, order: CompactionOrder): readonly Draft[] {
    const failure = new CompactionFailedError(refused, message)
    if (order.trigger === "manual" || order.target) throw failure
    const canBeMended = refused !== "switched-off" && refused !== "nothing-to-summarise"
    if (canBeMended && !told.has(refused)) {
      told.add(refused)
      turn.progress({ phase: "message", message })
    }
    if (order.overflowed) throw failure // the loop shows the API's own refusal then
    return []
  }
}

const SWITCHED_OFF: Refused = { refused: "switched-off", message: "Compacting after a refusal is switched off." }

const blockedBy = (why: string): Refused => ({
  refused: "blocked-by-hook",
  message: `A hook keeps the conversation from being compacted: ${why}. Nothing was changed.`,
})

function aliveFrom({ progress }: Turn): () => void {
  let seconds = 0
  return () => {
    seconds += ALIVE_MS / 1_000
    progress({ phase: "alive", seconds })
  }
}
