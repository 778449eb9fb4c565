/**
 * Claude Code passes its compaction to this module, which asks the program `strata` for the next context. If anything goes wrong, Claude
 * Code's own compaction runs, and one line reports it.
 */
import type { EngineInterface, Register, SessionCompacted, SessionMessage } from "claude-code"

type Engine = Pick<EngineInterface, "model" | "process" | "session" | "ui">
type Mode = "observe" | "record" | "replace"

interface CompactResponse {
  readonly text: string
  readonly facts: string
  readonly kept: readonly number[]
  readonly tokens: { readonly before: number; readonly after: number; readonly facts: number }
}

interface PruneResponse extends CompactResponse {
  readonly pruned: readonly { readonly toolUseId: string; readonly text: string }[]
}

interface CompactionLoss {
  readonly usedAgain: number
  readonly lost: readonly string[]
  readonly lostWithStrata: number
}

interface UndoResponse {
  readonly messages: readonly SessionMessage[]
}

interface State {
  readonly mode: Mode
  /** Whether `replace` first cuts results that later work has superseded. */
  readonly prunes: boolean
  readonly program: readonly string[]
  hasComplained: boolean
  /** Number of compactions that Strata replaced or supplemented. */
  compactions: number
  /** Number of compactions that Claude Code passed to this module. */
  handedOver: number
  /** Number of tool calls since the last update of the record. */
  calls: number
  /** Turns since a compaction that is still watched; undefined if there is none. */
  turnsSince: number | undefined
  /** User input that has not been checked for memories yet. */
  readonly typed: string[]
  /** Files of memories that the session already has. */
  shown: readonly string[]
  hasAsked: boolean
  mayHaveMemories: boolean
}

interface LearnResponse {
  readonly prompt?: string
  readonly learned: readonly string[]
}

interface MemoriesResponse {
  readonly context: readonly string[]
  readonly shown: readonly string[]
  readonly learned: readonly string[]
  readonly hasMemories: boolean
}

interface CompactionEvent {
  readonly messages: readonly SessionMessage[]
  readonly instructions?: string | undefined
  readonly agentId?: string | undefined
}

const ABOUT: Readonly<Record<Mode, string>> = {
  observe: "watches: Claude Code compacts, and Strata says what was lost of what is used later",
  record: "adds a record after Claude Code's own summary",
  replace: "writes what stands after a compaction, without a model",
}

const RECALL = "mcp__plugin_strata_strata__recall"
const UNDO = "strata undo" // given as the instructions of a compaction, the only input that every session accepts
const TYPED: ReadonlySet<string> = new Set(["composer", "sdk"]) // the person at the prompt, or who runs `claude -p`
const PROMPTS_TO_LEARN_FROM = 8 // one small request for every eighth prompt
const SMALL_MODEL = "haiku"
const MAX_ANSWER = 2_000 // tokens
const ENOUGH_NAMES = 8 // names used again before the report is meaningful
const MAX_TURNS = 5 // maximum number of turns to wait for these names
const SHOWN_NAMES = 5
const SOON_MS = 100
const TIMEOUT_MS = 10_000
const PRUNED_ENOUGH = 0.6 // share of the messages: if pruning leaves more, the next compaction would follow too soon
const NOTE_TIMEOUT_MS = 60_000 // nothing waits for it
const CALLS_TO_RECORD = 40 // number of tool calls in a long turn before the record is updated
const SMALLER = 0.9 // a compaction that leaves more than this share of the messages is not worth the cache miss

export const register: Register = (on, options) => {
  const state: State = {
    mode: (options.mode ?? "observe") as Mode,
    prunes: options.replace === "prune",
    program: [String(options.command ?? "strata"), String(options.script ?? "--no-color")],
    hasComplained: false,
    compactions: 0,
    handedOver: 0,
    calls: 0,
    turnsSince: undefined,
    typed: [],
    shown: [],
    hasAsked: false,
    mayHaveMemories: true,
  }

  on("session.start", async ($, e, next) => {
    const started = await next(e)
    await $.command.register({
      name: "strata",
      description: "What Strata does with this session",
      argumentHint: "[undo]",
    })
    return started
  })

  on("prompt.submit", async ($, e, next) => {
    if (state.mode === "observe" || !isTyped(e) || !state.mayHaveMemories) return next(e)
    state.typed.push(e.text)
    const mine = await findMemories($, state, e.text)
    return mine.length === 0 ? next(e) : next({ ...e, context: [...(e.context ?? []), ...mine] })
  }).catch((_$, e, next) => next(e))

  on("session.compact", async ($, e, next) => {
    if (e.instructions?.trim() === UNDO) {
      const { messages } = await ask<UndoResponse>($, state, { ask: "undo" })
      return messages.length > 0 ? { messages } : { skip: "This session has no compaction." }
    }
    if (state.mode === "replace") {
      if (e.trigger === "precompute") {
        await recordAhead($, state)
        return { skip: "Strata needs no time for a compaction." }
      }
      const ours =
        (state.prunes ? await pruneMessages($, state, e) : undefined) ?? (await replaceCompaction($, state, e))
      if (ours) return ours
    }
    const own = await next(e)
    if (e.trigger === "precompute" || own.messages === undefined) return own
    if (state.mode === "observe") {
      if (e.agentId === undefined) state.turnsSince = 0
      return own
    }
    return (await addRecord($, state, { ...e, own, isNoted: state.mode === "replace" })) ?? own
  }).catch((_$, e, next) => next(e))

  on("turn.complete", async ($, e, next) => {
    const completed = await next(e)
    if (e.agentId !== undefined) return completed
    if (state.turnsSince !== undefined) await reportLoss($, state)
    if (state.mode !== "observe") await recordAhead($, state)
    if (state.typed.length >= PROMPTS_TO_LEARN_FROM) await learnMemories($, state)
    return completed
  })

  on("tool.call", async ($, e, next) => {
    const called = await next(e)
    if (state.mode !== "observe" && ++state.calls >= CALLS_TO_RECORD) void recordAhead($, state)
    return called
  }).catch((_$, e, next) => next(e))

  on("command.run", { command: "strata" }, async ($, e) => {
    if (e.args.trim() !== "undo")
      return { text: `Strata ${ABOUT[state.mode]}. /config changes it. /strata undo undoes the newest compaction.` }
    $.clock.after(SOON_MS, () => $.command.run({ command: "compact", args: UNDO })) // a command cannot run another one
    return { text: "Strata undoes the newest compaction." }
  }).catch(() => ({ text: `Strata could not do this here. Nothing was changed. Try: /compact ${UNDO}` }))
}

/** Finds memories for the user's input. A lasting rule in it is saved at once; the start of a session also gets the current rules. */
async function findMemories($: Engine, state: State, text: string): Promise<readonly string[]> {
  try {
    const cwd = await $.session.root()
    const request = { ask: "memories", cwd, text, shown: state.shown, isFirst: !state.hasAsked }
    const { context, shown, learned, hasMemories } = await ask<MemoriesResponse>($, state, request)
    state.hasAsked = true
    state.shown = shown
    state.mayHaveMemories ||= hasMemories
    if (learned.length > 0)
      $.ui.log(`Strata remembers: ${learned.join("; ")}. "strata memory" lists it and can undo it.`)
    return context
  } catch (error) {
    state.mayHaveMemories = false // not again in this session: prompts must not wait for a failing program
    complain($, state, error, "look for memories")
    return []
  }
}

/** Asks a small model in a separate request which user statements are worth saving. Its price is part of the session's cost. */
async function learnMemories($: Engine, state: State): Promise<void> {
  const typed = state.typed.splice(0)
  try {
    const request = { ask: "learn", cwd: await $.session.root(), typed }
    const { prompt } = await ask<LearnResponse>($, state, request)
    if (prompt === undefined) return
    const answered = await $.model.complete({ model: SMALL_MODEL, prompt, maxTokens: MAX_ANSWER })
    if (!answered.isAnswered) return
    const kept = await ask<LearnResponse>($, state, { ...request, answer: answered.text })
    if (kept.learned.length > 0)
      $.ui.log(`Strata remembers: ${kept.learned.join("; ")}. "strata memory" lists it and can undo it.`)
  } catch (error) {
    complain($, state, error, "look for memories")
  }
}

/** Only input that the user typed may teach or ask something. */
const isTyped = (e: {
  readonly origin: { readonly kind: string }
  readonly command?: unknown
  readonly isMeta?: true
}) => TYPED.has(e.origin.kind) && e.command === undefined && e.isMeta !== true

/** Reports once per compaction what it lost, as soon as enough names were used again. */
async function reportLoss($: Engine, state: State): Promise<void> {
  state.turnsSince = (state.turnsSince ?? 0) + 1
  try {
    const { usedAgain, lost, lostWithStrata } = await ask<CompactionLoss>($, state, { ask: "observe" })
    if (usedAgain < ENOUGH_NAMES && state.turnsSince < MAX_TURNS) return
    state.turnsSince = undefined
    if (usedAgain === 0) return
    const named =
      lost.length === 0 ? "" : ` (${lost.slice(0, SHOWN_NAMES).join(", ")}${lost.length > SHOWN_NAMES ? ", …" : ""})`
    $.ui.log(
      `Strata: ${usedAgain} names from before the compaction have been used since. The compaction lost ${lost.length} of them${named}; with Strata it would have been ${lostWithStrata}. /config strata changes the mode.`,
    )
  } catch (error) {
    state.turnsSince = undefined
    complain($, state, error)
  }
}

/** All messages, some with cut results; `undefined` if that frees too little space. */
async function pruneMessages($: Engine, state: State, e: CompactionEvent): Promise<SessionCompacted | undefined> {
  try {
    const { pruned: cut, tokens } = await ask<PruneResponse>($, state, { ...requestOf(e), mode: "prune" })
    if (tokens.after > tokens.before * PRUNED_ENOUGH) return undefined
    $.ui.log(
      `Strata cut ${cut.length} superseded results: messages shrank from about ${rounded(tokens.before)} to ${rounded(tokens.after)} tokens, and every message was kept. /strata undo undoes this.`,
    )
    $.ui.status(`Strata: ${++state.compactions} compacted`)
    const texts = new Map(cut.map(({ toolUseId, text }) => [toolUseId, text]))
    return { messages: e.messages.map((message) => withoutHandle(withTexts(message, texts))) }
  } catch (error) {
    return complain($, state, error)
  }
}

/** A call also contains the text of its result. It is omitted there, because the result itself follows. */
const withTexts = (message: SessionMessage, texts: ReadonlyMap<string, string>): SessionMessage => ({
  ...message,
  toolUses: message.toolUses.map((use) =>
    texts.has(use.tool_use_id) ? { tool_use_id: use.tool_use_id, tool: use.tool, input: use.input } : use,
  ),
  ...(message.toolResults
    ? {
        toolResults: message.toolResults.map((result) => {
          const text = texts.get(result.tool_use_id)
          return text === undefined ? result : { ...result, text }
        }),
      }
    : {}),
})

/** Updates the record before a compaction, which then has little to do even on a busy machine. A failure shows at the compaction. */
async function recordAhead($: Engine, state: State): Promise<void> {
  state.calls = 0
  await ask($, state, { ask: "ahead" }).catch(() => undefined)
}

/** The context after a compaction without a model; `undefined` to let Claude Code compact. */
async function replaceCompaction($: Engine, state: State, e: CompactionEvent): Promise<SessionCompacted | undefined> {
  try {
    const { text, kept, tokens } = await ask<CompactResponse>($, state, requestOf(e))
    if (text === "" || tokens.after > tokens.before * SMALLER) {
      $.ui.log("Strata left this compaction to Claude Code, because its own would have saved too little.")
      return note($, state, { outcome: "left" })
    }
    $.ui.log(
      `Strata compacted without a model: messages shrank from about ${rounded(tokens.before)} to ${rounded(tokens.after)} tokens, ${kept.length} of ${e.messages.length} messages are unchanged. /strata undo undoes this.`,
    )
    note($, state, { outcome: "replaced" })
    return { messages: [userMessage(text), ...kept.map((at) => withoutHandle(e.messages[at]!))] }
  } catch (error) {
    return fallBack($, state, error)
  }
}

/** Claude Code's own summary, followed by Strata's record. */
async function addRecord(
  $: Engine,
  state: State,
  e: CompactionEvent & { readonly own: SessionCompacted; readonly isNoted: boolean },
): Promise<SessionCompacted | undefined> {
  try {
    const { facts, tokens } = await ask<CompactResponse>($, state, { ...requestOf(e), summary: "", keep: 0 })
    if (facts === "") return undefined
    $.ui.log(
      `Strata added a record of about ${rounded(tokens.facts)} tokens after the summary. /strata undo undoes the compaction.`,
    )
    if (!e.isNoted) note($, state, { outcome: "recorded" })
    const [summary, ...rest] = e.own.messages
    return { ...e.own, messages: [...(summary ? [summary] : []), userMessage(facts), ...rest] }
  } catch (error) {
    return e.isNoted ? undefined : fallBack($, state, error)
  }
}

async function ask<T>($: Engine, { program }: State, request: object, timeoutMs = TIMEOUT_MS): Promise<T> {
  const stdin = JSON.stringify({ client: "claude-code", session: await $.session.id(), ...request })
  const argv = [...program, "compact-messages"]
  const { exitCode, stdout, stderr } = await $.process.run(argv, { stdin, timeoutMs })
  if (exitCode !== 0) throw new Error(stderr.trim().split("\n").at(-1) ?? `exit code ${exitCode}`)
  return JSON.parse(stdout) as T
}

/** Reported at every compaction: the user would not notice otherwise, and the summary is a different one. */
function fallBack($: Engine, state: State, error: unknown): undefined {
  const why = reasonOf(error)
  $.ui.log(`Strata could not handle this compaction, so Claude Code compacted by itself: ${why}`)
  return note($, state, { outcome: "fell-back", why })
}

interface CompactionNote {
  readonly outcome: "replaced" | "recorded" | "left" | "fell-back"
  readonly why?: string
}

/** Records the outcome for the status line and `strata doctor`. Nothing waits for it. */
function note($: Engine, state: State, noted: CompactionNote): undefined {
  state.handedOver++
  if (noted.outcome === "replaced" || noted.outcome === "recorded") state.compactions++
  $.ui.status(`Strata: ${state.compactions} of ${state.handedOver} compacted`)
  ask($, state, { ask: "compacted", ...noted }, NOTE_TIMEOUT_MS).catch(() => undefined)
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Reported once per session, because the reason stays the same. */
function complain($: Engine, state: State, error: unknown, what = "help with a compaction"): undefined {
  if (state.hasComplained) return
  state.hasComplained = true
  $.ui.log(`Strata could not ${what}, so Claude Code continues without it: ${reasonOf(error)}`)
}

const requestOf = ({ messages, instructions, agentId }: CompactionEvent) => ({
  messages,
  recall: RECALL,
  ...(instructions === undefined ? {} : { instructions }),
  ...(agentId === undefined ? {} : { agent: agentId }),
})

/**
 * The same message without its handle: Claude Code then writes it after the boundary as a new one. With its handle, a tool result would
 * stay the child of the call before the boundary, and a resumed session would contain everything that was compacted.
 */
const withoutHandle = ({ handle: _, ...message }: SessionMessage): SessionMessage => message

const userMessage = (text: string): SessionMessage => ({ role: "user", text, toolUses: [] })

const rounded = (tokens: number): string => (tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 100) / 10}K`)
