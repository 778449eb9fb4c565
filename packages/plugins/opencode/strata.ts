/**
 * Strata for opencode 1.x: controls what remains in context when opencode compacts. `STRATA_MODE`, or the option `mode`, selects:
 * - `observe` (the default): opencode compacts as always. Once earlier names are used again, one line reports which of them were lost.
 * - `record`: opencode's own summary, then a record of exact names, the user's messages and rules, files, failed commands.
 * - `replace`: a summary without a model, and the record. opencode cannot skip its request, so the request is made tiny.
 * If anything goes wrong, opencode's own compaction runs. This file needs the program `strata` and nothing else.
 */
import { spawn } from "node:child_process"

const TIME_LIMIT_MS = 10_000
const ENOUGH_NAMES = 8 // names used again before the report is meaningful
const MAX_PROMPTS = 5 // maximum number of prompts to wait for these names
const SHOWN_NAMES = 5

const ABOUT_THE_RECORD = `After your summary, a computed record is added: the user's messages, rules, files, failed commands and exact names.
Write what it cannot: goals, decisions, reasons, what is done and what is next.
If the previous summary has such a record ("A record of what was said and done before this point"), leave that record out.`

const TINY_PROMPT = `The summary of this conversation exists already. Answer with one word: done.`

export interface Options {
  readonly mode?: string
  /** How to start `strata`: a path, or a program and its first arguments. */
  readonly program?: string | readonly string[]
  readonly timeLimitMs?: number
}

/** The part of opencode's types that this plugin uses. */
interface SessionMessage {
  readonly info: {
    readonly id: string
    readonly sessionID: string
    readonly role: string
    readonly parentID?: string
    readonly summary?: unknown
  }
  readonly parts: Part[]
}
interface Part {
  readonly type: string
  text?: string
  readonly auto?: boolean
}
interface Answer<T> {
  readonly data?: T
}
export interface Input {
  readonly client: {
    readonly session: {
      messages(of: { path: { id: string } }): Promise<Answer<readonly SessionMessage[]>>
      message(of: { path: { id: string; messageID: string } }): Promise<Answer<SessionMessage>>
    }
    readonly app: {
      log(line: { body: { service: string; level: "info" | "warn"; message: string } }): Promise<unknown>
    }
    readonly tui: { showToast(toast: { body: { message: string; variant: "info" | "warning" } }): Promise<unknown> }
  }
}

/** The part of the responses of `strata compact-messages` that this plugin uses. */
interface CompactResponse {
  readonly text: string
  readonly facts: string
  readonly tokens: { readonly after: number; readonly kept: number; readonly facts: number }
}

interface CompactionLoss {
  readonly usedAgain: number
  readonly lost: readonly string[]
  readonly lostWithStrata: number
}

/** A compaction in progress: the message that started it, and the replacement of the model's text. */
interface Compaction {
  readonly order: string
  readonly isReplaced: boolean
  readonly carried: CompactResponse
}

export const Strata = async ({ client }: Input, options: Options = {}) => {
  const mode = process.env.STRATA_MODE ?? options.mode ?? "observe"
  const asked = { program: process.env.STRATA_PROGRAM ?? options.program ?? "strata", timeLimitMs: options.timeLimitMs }
  const compactions = new Map<string, Compaction>() // by session id
  const promptsSince = new Map<string, number>() // by session id: prompts since a compaction that is still watched
  const announced = new Set<string>()

  const say = async (message: string, isWarning = false) => {
    const line = { service: "strata", level: isWarning ? "warn" : "info", message } as const
    const toast = { message, variant: isWarning ? "warning" : "info" } as const
    await Promise.allSettled([client.app.log({ body: line }), client.tui.showToast({ body: toast })]) // `opencode run` has no screen
  }
  const sayOnce = async (message: string, isWarning = false) => {
    const isNew = !announced.has(message)
    announced.add(message)
    if (isNew) await say(message, isWarning)
  }
  const failed = (error: unknown) =>
    sayOnce(`Strata could not handle this compaction, so opencode compacted by itself: ${reasonOf(error)}`, true)
  const messagesOf = async (id: string) => (await client.session.messages({ path: { id } })).data ?? []

  const watch = async (session: string) => {
    const prompts = (promptsSince.get(session) ?? 0) + 1
    promptsSince.set(session, prompts)
    try {
      const request = { ask: "observe", client: "opencode", session, messages: await messagesOf(session) }
      const observed = (await ask({ ...asked, request })) as CompactionLoss
      if (observed.usedAgain < ENOUGH_NAMES && prompts < MAX_PROMPTS) return
      promptsSince.delete(session)
      if (observed.usedAgain > 0) await say(`${lostLine(observed)} The mode "record" adds them.`)
    } catch (error) {
      promptsSince.delete(session)
      await sayOnce(`Strata could not determine what the compaction lost: ${reasonOf(error)}`, true)
    }
  }

  return {
    "experimental.session.compacting": async (
      { sessionID }: { sessionID: string },
      output: { context: string[]; prompt?: string },
    ) => {
      compactions.delete(sessionID)
      if (mode === "observe") return
      if (mode !== "record" && mode !== "replace")
        return sayOnce(`Unknown mode "${mode}". Use observe, record or replace.`, true)
      try {
        const messages = await messagesOf(sessionID)
        const order = messages.findLast(({ parts }) => parts.some(({ type }) => type === "compaction"))
        if (!order)
          throw new Error("The session has no compaction message. Is this an unsupported version of opencode?")
        const isAutomatic = order.parts.some(({ auto }) => auto === true)
        const request = {
          ...{ client: "opencode", session: sessionID, messages, continuation: isAutomatic ? "automatic" : "by-hand" },
          keep: 0, // opencode cuts the tail itself
        }
        const carried = parseResponse(await ask({ ...asked, request }))
        const isReplaced = mode === "replace" && carried.text !== ""
        compactions.set(sessionID, { order: order.info.id, isReplaced, carried })
        if (isReplaced) output.prompt = TINY_PROMPT
        else if (carried.facts !== "") output.context.push(ABOUT_THE_RECORD)
      } catch (error) {
        await failed(error)
      }
    },

    // for the summary, opencode passes only the messages to be summarised; for the conversation, the compaction message is among them
    "experimental.chat.messages.transform": async (_: unknown, { messages }: { messages: SessionMessage[] }) => {
      const compaction = compactions.get(messages[0]?.info.sessionID ?? "")
      if (!compaction?.isReplaced) return
      if (!messages.some(({ info }) => info.id === compaction.order)) messages.splice(0)
      else restore(messages, compaction)
    },

    "experimental.text.complete": async (
      { sessionID, messageID }: { sessionID: string; messageID: string },
      output: { text: string },
    ) => {
      const compaction = compactions.get(sessionID)
      if (!compaction) return
      try {
        const { data } = await client.session.message({ path: { id: sessionID, messageID } })
        if (data?.info.parentID !== compaction.order || data.info.summary !== true) return
        const { carried, isReplaced } = compaction
        output.text = isReplaced ? carried.text : [output.text, carried.facts].filter(Boolean).join("\n\n")
        compactions.delete(sessionID)
        await say(notice(compaction))
      } catch (error) {
        await failed(error)
      }
    },

    event: async ({ event }: { event: { type: string; properties?: unknown } }) => {
      const session = Object(event.properties).sessionID
      if (mode !== "observe" || typeof session !== "string") return
      if (event.type === "session.compacted") promptsSince.set(session, 0)
      if (event.type === "session.idle" && promptsSince.has(session)) await watch(session)
    },
  }
}

const count = (tokens: number) => tokens.toLocaleString("en")
const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const notice = ({ isReplaced, carried: { tokens } }: Compaction) =>
  isReplaced
    ? `Strata: ${count(tokens.after - tokens.kept)} tokens, written without a model, in place of opencode's summary.`
    : `Strata added a record of ${count(tokens.facts)} tokens after opencode's summary.`

/** If the model wrote no text that could be replaced, Strata's text takes its place in the request. */
function restore(messages: readonly SessionMessage[], { order, carried }: Compaction): void {
  const summary = messages.find(({ info }) => info.parentID === order && info.summary === true)
  if (!summary) return // the attempt failed: everything is still in context
  const text = summary.parts.find(({ type }) => type === "text")
  if (text) text.text = carried.text
  else summary.parts.push({ ...summary.info, type: "text", text: carried.text })
}

function lostLine({ usedAgain, lost, lostWithStrata }: CompactionLoss): string {
  const names = `${lost.slice(0, SHOWN_NAMES).join(", ")}${lost.length > SHOWN_NAMES ? ", …" : ""}`
  return `Strata: ${usedAgain} names from before the compaction have been used since. The compaction lost ${lost.length} of them${names && ` (${names})`}; with Strata it would have been ${lostWithStrata}.`
}

interface ProgramRequest {
  readonly program: string | readonly string[]
  readonly request: unknown
  readonly timeLimitMs?: number | undefined
}

/** Starts `strata compact-messages`, sends it the request and returns its response. */
async function ask({ program, request, timeLimitMs = TIME_LIMIT_MS }: ProgramRequest): Promise<unknown> {
  const [name, ...words] = [program].flat()
  const limit = AbortSignal.timeout(timeLimitMs)
  const output = await new Promise<string>((resolve, reject) => {
    const child = spawn(name!, [...words, "compact-messages"], { signal: limit, killSignal: "SIGKILL" })
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
  const { text, facts, tokens } = answer as Partial<CompactResponse>
  if (typeof text !== "string" || typeof facts !== "string" || !tokens)
    throw new Error("Its response has an unexpected format. Are plugin and program the same version?")
  return { text, facts, tokens }
}
