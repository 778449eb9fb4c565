/**
 * Strata for pi: controls what remains in context when pi compacts. `STRATA_MODE`, or the option `mode`, selects:
 * - `observe` (the default): pi compacts as always. Once earlier names are used again, one line reports which of them were lost.
 * - `record`: pi's own summary, then a record of exact names, the user's messages and rules, files, failed commands.
 * - `replace`: a summary without a model, and the record.
 * If anything goes wrong, pi's own compaction runs. This file needs the program `strata` and nothing else.
 */
import { spawn } from "node:child_process"

const TIME_LIMIT_MS = 10_000
const RECORD = "strata-record" // an entry of the session that pi itself never sends
const ENOUGH_NAMES = 8 // names used again before the report is meaningful
const MAX_PROMPTS = 5 // maximum number of prompts to wait for these names
const SHOWN_NAMES = 5

export interface Options {
  readonly mode?: string
  /** How to start `strata`: a path, or a program and its first arguments. */
  readonly program?: string | readonly string[]
  readonly timeLimitMs?: number
}

/** The part of pi's types that this extension uses. */
interface Entry {
  readonly type: string
  readonly id: string
  readonly customType?: string
  readonly data?: unknown
}
interface CompactEvent {
  readonly preparation: {
    readonly firstKeptEntryId: string
    readonly tokensBefore: number
    readonly settings: { readonly keepRecentTokens: number }
  }
  readonly branchEntries: readonly Entry[]
  readonly customInstructions?: string
  readonly reason?: string
  readonly signal: AbortSignal
}
interface AgentMessage {
  readonly role: string
  readonly summary?: string
}
interface Context {
  readonly hasUI: boolean
  readonly ui: { notify(text: string, kind: "info" | "warning"): void }
  readonly sessionManager: {
    getSessionId(): string
    getSessionFile(): string | undefined
    getBranch(): readonly Entry[]
  }
}
export interface Pi {
  on(event: "session_before_compact", run: (event: CompactEvent, context: Context) => Promise<unknown>): void
  on(event: "session_compact", run: (event: { readonly fromExtension: boolean }, context: Context) => void): void
  on(event: "context", run: (event: { readonly messages: AgentMessage[] }, context: Context) => unknown): void
  on(event: "agent_end", run: (event: unknown, context: Context) => Promise<void>): void
  appendEntry(type: string, data: unknown): void
}

/** The part of the responses of `strata compact-messages` that this extension uses. */
interface CompactResponse {
  readonly text: string
  readonly facts: string
  readonly kept: readonly number[]
  readonly tokens: { readonly before: number; readonly after: number; readonly facts: number }
}
interface CompactionLoss {
  readonly usedAgain: number
  readonly lost: readonly string[]
  readonly lostWithStrata: number
}

export default function strata(pi: Pi, options: Options = {}): void {
  const mode = process.env.STRATA_MODE ?? options.mode ?? "observe"
  const asked = { program: process.env.STRATA_PROGRAM ?? options.program ?? "strata", timeLimitMs: options.timeLimitMs }
  const announced = new Set<string>()
  let addition = ""
  let notice = ""
  let promptsSince: number | undefined // since a compaction that is still watched

  const say = ({ hasUI, ui }: Context, text: string, kind: "info" | "warning" = "info") => {
    if (hasUI) ui.notify(text, kind)
    else console.error(text)
  }
  const sayOnce = (context: Context, text: string, kind?: "warning") => {
    if (!announced.has(text)) say(context, text, kind)
    announced.add(text)
  }

  pi.on("session_before_compact", async (event, context) => {
    addition = notice = ""
    if (mode === "observe") return
    if (mode !== "record" && mode !== "replace")
      return sayOnce(context, `Unknown mode "${mode}". Use observe, record or replace.`, "warning")
    try {
      const request = requestOf(mode, { event, sessionManager: context.sessionManager })
      const carried = parseResponse(await ask({ ...asked, request, signal: event.signal }))
      if (mode === "replace" && carried.text !== "") {
        notice = `Strata: ${count(carried.tokens.before)} tokens became ${count(carried.tokens.after)}, without a model. Use /tree to go back.`
        return { compaction: resultOf(carried, event) }
      }
      addition = carried.facts
      notice = `Strata added a record of ${count(carried.tokens.facts)} tokens after pi's summary. Use /tree to go back.`
    } catch (error) {
      if (!event.signal.aborted)
        sayOnce(
          context,
          `Strata could not handle this compaction, so pi compacted by itself: ${reasonOf(error)}`,
          "warning",
        )
    }
  })

  pi.on("session_compact", ({ fromExtension }, context) => {
    if (addition !== "" && !fromExtension) pi.appendEntry(RECORD, { text: addition })
    if (notice !== "") say(context, notice)
    if (mode === "observe") promptsSince = 0
    addition = notice = ""
  })

  // pi's own summary in the session is unchanged: without this file everything is as before
  pi.on("context", ({ messages }, { sessionManager }) => {
    const text = findRecord(sessionManager.getBranch())
    if (text === undefined) return
    return {
      messages: messages.map((message) =>
        message.role === "compactionSummary" ? { ...message, summary: `${message.summary}\n\n${text}` } : message,
      ),
    }
  })

  pi.on("agent_end", async (_, context) => {
    if (promptsSince === undefined) return
    promptsSince++
    try {
      const { sessionManager } = context
      const request = { ask: "observe", client: "pi", session: sessionManager.getSessionId() }
      const observed = (await ask({
        ...asked,
        request: { ...request, messages: sessionManager.getBranch() },
      })) as CompactionLoss
      if (observed.usedAgain < ENOUGH_NAMES && promptsSince < MAX_PROMPTS) return
      promptsSince = undefined
      if (observed.usedAgain > 0) say(context, `${lostLine(observed)} STRATA_MODE=record adds them.`)
    } catch (error) {
      promptsSince = undefined
      sayOnce(context, `Strata could not determine what the compaction lost: ${reasonOf(error)}`, "warning")
    }
  })
}

const count = (tokens: number) => tokens.toLocaleString("en")
const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function requestOf(mode: string, { event, sessionManager }: { event: CompactEvent } & Pick<Context, "sessionManager">) {
  return {
    client: "pi",
    session: sessionManager.getSessionId(),
    transcript: sessionManager.getSessionFile(),
    messages: event.branchEntries,
    instructions: event.customInstructions,
    continuation: event.reason === "manual" ? "by-hand" : "automatic",
    // pi cuts after its own summary itself: the record covers everything
    keep: mode === "replace" ? event.preparation.settings.keepRecentTokens : 0,
  }
}

function resultOf({ text, kept }: CompactResponse, { branchEntries, preparation }: CompactEvent) {
  const { firstKeptEntryId, tokensBefore } = preparation
  return { summary: text, firstKeptEntryId: branchEntries[kept[0] ?? -1]?.id ?? firstKeptEntryId, tokensBefore }
}

/** The record of the newest compaction on this branch. */
function findRecord(branch: readonly Entry[]): string | undefined {
  const newest = branch.findLast(({ type, customType }) => type === "compaction" || customType === RECORD)
  const text = newest?.customType === RECORD ? (newest.data as { text?: unknown } | undefined)?.text : undefined
  return typeof text === "string" ? text : undefined
}

function lostLine({ usedAgain, lost, lostWithStrata }: CompactionLoss): string {
  const names = `${lost.slice(0, SHOWN_NAMES).join(", ")}${lost.length > SHOWN_NAMES ? ", …" : ""}`
  return `Strata: ${usedAgain} names from before the compaction have been used since. The compaction lost ${lost.length} of them${names && ` (${names})`}; with Strata it would have been ${lostWithStrata}.`
}

interface ProgramRequest {
  readonly program: string | readonly string[]
  readonly request: unknown
  readonly signal?: AbortSignal
  readonly timeLimitMs?: number | undefined
}

/** Starts `strata compact-messages`, sends it the request and returns its response. */
async function ask({ program, request, signal, timeLimitMs = TIME_LIMIT_MS }: ProgramRequest): Promise<unknown> {
  const [name, ...words] = [program].flat()
  const limit = AbortSignal.timeout(timeLimitMs)
  const either = AbortSignal.any([limit, ...(signal ? [signal] : [])])
  const output = await new Promise<string>((resolve, reject) => {
    const child = spawn(name!, [...words, "compact-messages"], { signal: either, killSignal: "SIGKILL" })
    let [printed, complaint] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      complaint += text
    })
    child.on("error", (error) =>
      reject(limit.aborted ? new Error(`${name} took longer than ${timeLimitMs / 1000} seconds.`) : error),
    )
    child.on("close", (code) => {
      if (code === 0) resolve(printed)
      else reject(new Error(complaint.trim() || `${name} ended with exit code ${code}.`))
    })
    child.stdin.on("error", () => {}) // the program ended without reading all input: its exit code gives the reason
    child.stdin.end(JSON.stringify(request))
  })
  return Object(JSON.parse(output))
}

function parseResponse(answer: unknown): CompactResponse {
  const { text, facts, kept, tokens } = answer as Partial<CompactResponse>
  if (typeof text !== "string" || typeof facts !== "string" || !Array.isArray(kept) || !tokens)
    throw new Error("Its response has an unexpected format. Are extension and program the same version?")
  return { text, facts, kept, tokens }
}
