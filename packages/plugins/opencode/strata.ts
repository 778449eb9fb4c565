/**
 * Strata for opencode 1.x: what stays in view when opencode compacts. The option `mode`, or `STRATA_MODE`, says what it does:
 * - `observe` (the default): opencode compacts as always, and one line says that Strata would have had a part in it.
 * - `record`: opencode's own summary, then a record of exact names, the person's words and rules, files, failed commands.
 * - `replace`: a summary without a model, and the record. opencode has no way to leave its request out, so the request is made tiny.
 * Whatever goes wrong, opencode's own compaction takes place. This file needs the program `strata` and nothing else.
 */
import { spawn } from "node:child_process"

const TIME_LIMIT_MS = 10_000

const ABOUT_THE_RECORD = `After your summary, a computed record is added: the user's messages, rules, files, failed commands and exact names.
Write what it cannot: goals, decisions, reasons, what is done and what is next.
If the previous summary has such a record ("A record of what was said and done before this point"), leave that record out.`

const TINY_PROMPT = `The summary of this conversation exists already. Answer with one word: done.`

type Mode = "observe" | "record" | "replace"

/** What we use of opencode's types. */
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

/** What we use of the answer of `strata carry`. */
interface Carried {
  readonly text: string
  readonly addition: string
  readonly tokens: { readonly after: number; readonly kept: number; readonly facts: number }
}

/** A compaction under way: the order that began it, and what becomes of the model's text. */
interface Compaction {
  readonly order: string
  readonly isReplaced: boolean
  readonly carried: Carried
}

interface Options {
  readonly mode?: string
  /** The path of `strata`, if it is not on the search path. */
  readonly program?: string
  readonly timeLimitMs?: number
}

export const Strata = async ({ client }: Input, options: Options = {}) => {
  const timeLimitMs = options.timeLimitMs ?? TIME_LIMIT_MS
  const mode = options.mode ?? process.env.STRATA_MODE ?? "observe"
  const program = options.program ?? process.env.STRATA_PROGRAM ?? "strata"
  const compactions = new Map<string, Compaction>() // by session
  const said = new Set<string>()

  const say = async (message: string, isWarning = false) => {
    const line = { service: "strata", level: isWarning ? "warn" : "info", message } as const
    const toast = { message, variant: isWarning ? "warning" : "info" } as const
    await Promise.allSettled([client.app.log({ body: line }), client.tui.showToast({ body: toast })]) // `opencode run` has no screen
  }
  const sayOnce = async (message: string, isWarning = false) => {
    const isNew = !said.has(message)
    said.add(message)
    if (isNew) await say(message, isWarning)
  }
  const failed = (error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    return sayOnce(`Strata had no part in this compaction, opencode's own took place: ${reason}`, true)
  }

  return {
    "experimental.session.compacting": async (
      { sessionID }: { sessionID: string },
      output: { context: string[]; prompt?: string },
    ) => {
      compactions.delete(sessionID)
      if (!isMode(mode)) return sayOnce(`The mode is "${mode}". Strata knows observe, record and replace.`, true)
      if (mode === "observe")
        return sayOnce(
          "Strata observes: opencode compacts by itself. The mode record adds what the summary leaves out.",
        )
      try {
        const messages = (await client.session.messages({ path: { id: sessionID } })).data ?? []
        const order = messages.findLast(({ parts }) => parts.some(({ type }) => type === "compaction"))
        if (!order) throw new Error("The session has no order to compact. Is this another version of opencode?")
        const isAutomatic = order.parts.some(({ auto }) => auto === true)
        const request = {
          ...{ client: "opencode", session: sessionID, messages, mode: isAutomatic ? "automatic" : "by-hand" },
          keep: 0, // opencode cuts by itself
        }
        const carried = readAnswer(await ask(program, { request, timeLimitMs }))
        const isReplaced = mode === "replace" && carried.text !== ""
        compactions.set(sessionID, { order: order.info.id, isReplaced, carried })
        if (isReplaced) output.prompt = TINY_PROMPT
        else if (carried.addition !== "") output.context.push(ABOUT_THE_RECORD)
      } catch (error) {
        await failed(error)
      }
    },

    // for the summary, opencode passes only what is to be summarised; for the conversation, the order is among the messages
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
        output.text = isReplaced ? carried.text : [output.text, carried.addition].filter(Boolean).join("\n\n")
        compactions.delete(sessionID)
        await say(notice(compaction))
      } catch (error) {
        await failed(error)
      }
    },
  }
}

const isMode = (text: string): text is Mode => ["observe", "record", "replace"].includes(text)
const count = (tokens: number) => tokens.toLocaleString("en")

const notice = ({ isReplaced, carried: { tokens } }: Compaction) =>
  isReplaced
    ? `Strata: ${count(tokens.after - tokens.kept)} tokens, written without a model, in place of opencode's summary.`
    : `Strata added a record of ${count(tokens.facts)} tokens after opencode's summary.`

/** The model wrote no text that could be replaced. Our text takes its place in what is sent. */
function restore(messages: readonly SessionMessage[], { order, carried }: Compaction): void {
  const summary = messages.find(({ info }) => info.parentID === order && info.summary === true)
  if (!summary) return // the attempt failed: everything is still in view
  const text = summary.parts.find(({ type }) => type === "text")
  if (text) text.text = carried.text
  else summary.parts.push({ ...summary.info, type: "text", text: carried.text })
}

/** Starts `strata carry`, gives it the request and returns what it prints. */
function ask(program: string, { request, timeLimitMs }: { request: unknown; timeLimitMs: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    const limit = AbortSignal.timeout(timeLimitMs)
    const child = spawn(program, ["carry"], { signal: limit, killSignal: "SIGKILL" })
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
  if (typeof answer.text !== "string" || typeof answer.addition !== "string" || !answer.tokens)
    throw new Error("Its answer has another shape. Are plugin and program of one version?")
  return answer as Carried
}
