/**
 * Strata for pi: what stays in view when pi compacts. `STRATA_MODE` says what it does:
 * - `observe` (the default): pi compacts as always, and one line says that Strata would have had a part in it.
 * - `record`: pi's own summary, then a record of exact names, the person's words and rules, files, failed commands.
 * - `replace`: a summary without a model, and the record.
 * Whatever goes wrong, pi's own compaction takes place. This file needs the program `strata` and nothing else.
 */
import { spawn } from "node:child_process"

const TIME_LIMIT_MS = 10_000
const RECORD = "strata-record" // an entry of the session that pi never sends by itself

type Mode = "observe" | "record" | "replace"

/** What we use of pi's types. */
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
  appendEntry(type: string, data: unknown): void
}

/** What we use of the answer of `strata carry`. */
interface Carried {
  readonly text: string
  readonly addition: string
  readonly kept: readonly number[]
  readonly tokens: { readonly before: number; readonly after: number; readonly facts: number }
}

export default function strata(pi: Pi, timeLimitMs = TIME_LIMIT_MS): void {
  const { STRATA_MODE: mode = "observe", STRATA_PROGRAM: program = "strata" } = process.env
  const said = new Set<string>()
  let addition = ""
  let notice = ""

  const say = ({ hasUI, ui }: Context, text: string, kind: "info" | "warning" = "info") => {
    if (hasUI) ui.notify(text, kind)
    else console.error(text)
  }
  const sayOnce = (context: Context, text: string, kind?: "warning") => {
    if (!said.has(text)) say(context, text, kind)
    said.add(text)
  }

  pi.on("session_before_compact", async (event, context) => {
    addition = notice = ""
    if (!isMode(mode))
      return sayOnce(context, `STRATA_MODE is "${mode}". Strata knows observe, record and replace.`, "warning")
    if (mode === "observe")
      return sayOnce(
        context,
        "Strata observes: pi compacts by itself. STRATA_MODE=record adds what the summary leaves out.",
      )
    try {
      const carried = readAnswer(
        await ask(program, {
          request: requestOf(mode, { event, sessionManager: context.sessionManager }),
          signal: event.signal,
          timeLimitMs,
        }),
      )
      if (mode === "replace" && carried.text !== "") {
        notice = `Strata: ${count(carried.tokens.before)} tokens became ${count(carried.tokens.after)}, without a model. /tree leads back.`
        return { compaction: resultOf(carried, event) }
      }
      addition = carried.addition
      notice = `Strata added a record of ${count(carried.tokens.facts)} tokens after pi's summary. /tree leads back.`
    } catch (error) {
      if (event.signal.aborted) return
      const reason = error instanceof Error ? error.message : String(error)
      sayOnce(context, `Strata had no part in this compaction, pi's own took place: ${reason}`, "warning")
    }
  })

  pi.on("session_compact", ({ fromExtension }, context) => {
    if (addition !== "" && !fromExtension) pi.appendEntry(RECORD, { text: addition })
    if (notice !== "") say(context, notice)
    addition = notice = ""
  })

  // pi's own summary stays as it is in the session: without this file everything is as before
  pi.on("context", ({ messages }, { sessionManager }) => {
    const text = recordOf(sessionManager.getBranch())
    if (text === undefined) return
    return {
      messages: messages.map((message) =>
        message.role === "compactionSummary" ? { ...message, summary: `${message.summary}\n\n${text}` } : message,
      ),
    }
  })
}

const isMode = (text: string): text is Mode => ["observe", "record", "replace"].includes(text)
const count = (tokens: number) => tokens.toLocaleString("en")

function requestOf(mode: Mode, { event, sessionManager }: { event: CompactEvent } & Pick<Context, "sessionManager">) {
  return {
    client: "pi",
    session: sessionManager.getSessionId(),
    transcript: sessionManager.getSessionFile(),
    messages: event.branchEntries,
    instructions: event.customInstructions,
    mode: event.reason === "manual" ? "by-hand" : "automatic",
    // pi's own cut is not ours to know: the record covers everything
    keep: mode === "replace" ? event.preparation.settings.keepRecentTokens : 0,
  }
}

function resultOf({ text, kept }: Carried, { branchEntries, preparation }: CompactEvent) {
  const { firstKeptEntryId, tokensBefore } = preparation
  return { summary: text, firstKeptEntryId: branchEntries[kept[0] ?? -1]?.id ?? firstKeptEntryId, tokensBefore }
}

/** The record of the newest compaction on this branch. */
function recordOf(branch: readonly Entry[]): string | undefined {
  const newest = branch.findLast(({ type, customType }) => type === "compaction" || customType === RECORD)
  const text = newest?.customType === RECORD ? (newest.data as { text?: unknown } | undefined)?.text : undefined
  return typeof text === "string" ? text : undefined
}

interface Asked {
  readonly request: unknown
  readonly signal: AbortSignal
  readonly timeLimitMs: number
}

/** Starts `strata carry`, gives it the request and returns what it prints. */
function ask(program: string, { request, signal, timeLimitMs }: Asked): Promise<string> {
  return new Promise((resolve, reject) => {
    const limit = AbortSignal.timeout(timeLimitMs)
    const child = spawn(program, ["carry"], { signal: AbortSignal.any([signal, limit]), killSignal: "SIGKILL" })
    let [output, complaint] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      complaint += text
    })
    child.on("error", (error) =>
      reject(limit.aborted ? new Error(`${program} took longer than ${timeLimitMs / 1000} seconds.`) : error),
    )
    child.on("close", (code) => {
      if (code !== 0) reject(new Error(complaint.trim() || `${program} ended with exit code ${code}.`))
      else resolve(output)
    })
    child.stdin.on("error", () => {}) // it ended without reading all: its exit code says why
    child.stdin.end(JSON.stringify(request))
  })
}

function readAnswer(output: string): Carried {
  const answer = Object(JSON.parse(output)) as Partial<Carried>
  const isWhole = typeof answer.text === "string" && typeof answer.addition === "string" && Array.isArray(answer.kept)
  if (!isWhole || !answer.tokens)
    throw new Error("Its answer has another shape. Are plugin and program of one version?")
  return answer as Carried
}
