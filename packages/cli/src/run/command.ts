/**
 * `strata run`: runs one task without questions. The answer goes to standard output, everything else to standard error. The exit code
 * reports how the run ended. Calls that need permission are denied, because nobody can answer.
 */

import {
  type Agent,
  CompactionFailedError,
  type CompactionPlan,
  type QueryEnd,
  type QueryEvent,
  type ResolvedCompactionRequest,
} from "@strata/core"
import type { Attachment } from "@strata/core/messages"
import type { ClearingTarget } from "@strata/core/policy"
import { describeClearing } from "@strata/page"
import { loadCustomCommands } from "../chat/custom-commands.ts"
import { customMessage } from "../chat/custom-message.ts"
import { userEnvironment } from "../claude/user-environment.ts"
import { type CommandCall, type CommandDescription, UsageError } from "../command.ts"
import { type CompactionEnd, type CompactRequest, compactingEvents, compactRequestIn } from "../compact-request.ts"
import { connectionFrom, NO_KEY, unusedConnection } from "../connection.ts"
import { titleFrom } from "../conversation-names.ts"
import { RUN } from "../descriptions.ts"
import { ledgerOf } from "../display/ledger.ts"
import { jsonForTerminal } from "../display/visible.ts"
import { EXIT, EXIT_MEANINGS, exitCodeFor } from "../exit-codes.ts"
import { nextMessagePrice, priceSentence } from "../message-price.ts"
import { findConversation, openSession, openWorkspace, type SessionAgent, type Workspace } from "../session.ts"
import { type Environment, readCommandLine, SESSION_OPTIONS } from "../session-options.ts"
import { endsWithProcess } from "../stored-conversation.ts"
import { editText } from "../text-editor.ts"
import { interruptible } from "./interruption.ts"
import type { RunReport } from "./report.ts"
import { readTask, type Task } from "./task.ts"
import { TEAM_OPTIONS, TeamWait, teamFrom } from "./team.ts"
import { textReport } from "./text-report.ts"

// A task that is a slash command sends the same message as in the chat. Only the rules decide which commands in it run, because nobody can be asked.

export type ReadyTask =
  /** `attached` is inserted before the text. */
  | { readonly state: "ready"; readonly task: Task; readonly attached: readonly Attachment[] }
  /** `why` is a sentence for the user. */
  | { readonly state: "not sent"; readonly why: string }

export interface SlashTask {
  readonly task: Task
  readonly agent: SessionAgent
  readonly workspace: Pick<Workspace, "root" | "env">
  readonly signal: AbortSignal
  readonly notice: (message: string) => void
}

export async function readyTask({ task, agent, workspace, signal, notice }: SlashTask): Promise<ReadyTask> {
  const { written } = task
  const asIs: ReadyTask = { state: "ready", task, attached: [] }
  if (!/^\/[^\s/]+(?:\s|$)/.test(written)) return asIs
  const { root, env } = workspace
  const commands = await loadCustomCommands({
    ...{ root, home: env.HOME, settings: agent.conversation.settings, servers: agent.servers, skills: agent.skills },
    onProblem: notice,
  })
  const dismissed = async () => ({ type: "dismissed" }) as const
  const own = await customMessage(written, { commands, agent, ask: dismissed, asked: new Set(), isBusy: false, signal })
  if (own === undefined) {
    notice(`There is no command or skill ${written.split(/\s/, 1)[0]} here, so the task is sent unchanged.`)
    return asIs
  }
  if (own.state === "not sent") return own
  const piped = task.text.slice(written.length) // piped text follows the written text
  return { state: "ready", task: { text: own.text + piped, order: own.text, written }, attached: own.attached }
}

export const description = {
  ...RUN,
  more: [
    'The answer goes to standard output, everything else to standard error. Piped input follows the task: git diff | strata run "Review this." Without TASK, it is the task.',
    'A file that the task names with @ is sent with it: strata run "Explain @src/main.ts". In piped input, @ is only text.',
    "strata run never asks. A call that needs permission is denied unless --mode, --allow or a rule in the settings allows it.",
    "What this project's settings would run or widen is left out and named, until you trust it: strata trust, or --trust for one run.",
    "Ctrl-C interrupts and saves the conversation. A second Ctrl-C ends the process at once.",
    "Background agents are waited for. With --team and --as, several strata run work on one directory and send each other messages.",
    "A member that has answered and is alone in its team waits a minute for another to join, and reports it. --team-wait changes how long.",
    "A task that begins with / uses your slash command or skill of that name, as in the chat: strata run '/review src'.",
    'The task "/compact [--dry-run] [what to keep]" compacts a conversation, or shows what that would do. strata compact does the same.',
  ],
  options: { ...SESSION_OPTIONS, ...TEAM_OPTIONS, json: { kind: "flag", about: "print one JSON event per line" } },
  sections: [{ title: "Exit codes", rows: EXIT_MEANINGS.map(({ code, meaning }) => [String(code), meaning]) }],
} as const satisfies CommandDescription

export async function run({ args, cwd, env: given, terminal, stdin }: CommandCall): Promise<number> {
  const { options: asked } = readCommandLine({ description, args, env: given, cwd })
  const env = await userEnvironment({ cwd: asked.cwd, env: given })
  const { options, operands, values } = readCommandLine({ description, args, env, cwd })
  const team = teamFrom(values)
  const connected = connectionFrom(env)
  if (!connected && !isCompacting(operands)) {
    terminal.complain(NO_KEY)
    return EXIT.noKey
  }
  const connection = connected ?? unusedConnection
  const task = await readTask(operands, { stdin, complain: terminal.complain })
  const workspace = await openWorkspace({ options, connection, env })
  const { conversation: resumed, notes } = await findConversation(workspace, {
    beginning: options.start,
    calledFrom: cwd,
  })
  const compacting = connected ? compactRequestIn(task.text) : withoutModel(compactRequestIn(task.text))
  if (compacting && !resumed) throw new UsageError(NOTHING_TO_COMPACT)
  const title = titleFrom(task.text)
  const membership = team ? { team: team.place } : {}
  const session = await openSession({ workspace, user: {}, resumed, title, autonomous: true, ...membership })
  const { agent } = session
  const { conversation: chat, model } = agent
  const interruption = interruptible()
  const report = values.json ? jsonReport(terminal.print) : textReport(terminal)
  let end: QueryEnd
  try {
    report.begin({ conversation: chat.id, model: model.name, cwd: workspace.cwd, resumed: resumed !== undefined })
    for (const message of [...notes, ...session.problems]) report.event({ type: "notice", message })
    const { signal } = interruption
    const notice = (message: string) => report.event({ type: "notice", message })
    if (compacting) {
      end = await follow(compact({ agent, ...compacting, signal, env, showPlan: report.plan, notice }), report)
    } else {
      const price = resumed && (await nextMessagePrice(chat, `strata compact --conversation ${chat.id}`))
      if (price) notice(priceSentence(price))
      const ready = await readyTask({ task, agent, workspace, signal, notice })
      if (ready.state === "not sent") throw new UsageError(ready.why)
      for (const attachment of ready.attached) await chat.attach(attachment)
      const { text, order, written } = ready.task
      end = await follow(agent.query(text, { ...workspace.limits, signal, mentions: order, written }), report)
    }
    const others = team && new TeamWait({ ...team, agent, signal, notice })
    while (others && end.reason === "answer" && (await others.messageCame()))
      end = await follow(agent.query(undefined, { ...workspace.limits, signal }), report)
    if (end.reason === "answer") await unlessInterrupted(chat.whenIdle(), signal)
  } finally {
    await session.close()
    interruption.stop()
  }
  // after closing, when background work has ended and its cost is in the ledger
  const exitCode = exitCodeFor(end)
  const ledger = ledgerOf(chat)
  report.end({ end, exitCode, conversation: chat.id, isKept: !endsWithProcess(chat), dollars: ledger.dollars, ledger })
  return exitCode
}

/** Whether the task is a compaction, the only task that may not need a model. */
const isCompacting = ([task, ...more]: readonly string[]): boolean =>
  task !== undefined && more.length === 0 && compactRequestIn(task) !== undefined

const withoutModel = (request: CompactRequest | undefined): CompactRequest | undefined =>
  request && { ...request, order: { ...request.order, routes: ["offline"] } }

const MAX_WAIT_MS = 60_000

/** Waits until the memories of this task are written. Closing at once would postpone them until the conversation is continued. */
async function unlessInterrupted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, MAX_WAIT_MS)
  signal.addEventListener("abort", () => resolve(), { once: true })
  if (signal.aborted) resolve()
  await Promise.race([work, ended])
  clearTimeout(timer)
}

const NOTHING_TO_COMPACT =
  'There is no conversation to compact. Name one: strata run --continue "/compact", or use --resume with its id.'

async function follow(query: AsyncGenerator<QueryEvent, QueryEnd>, report: RunReport): Promise<QueryEnd> {
  for (;;) {
    const { value, done } = await query.next()
    if (done) return value
    if (value.type === "error")
      value.take() // the final report shows the error
    else report.event(value)
  }
}

/**
 * Prints one JSON object per line: the conversation, every event of the query, then the end. Texts are exact; control characters are
 * escaped.
 */
function jsonReport(print: (text: string) => void): RunReport {
  const line = (value: object) => print(`${jsonForTerminal(value)}\n`)
  const isNews = progressFilter()
  return {
    begin: (begin) => line({ type: "conversation", ...begin }),
    event: (event) => {
      if (isNews(event)) line(toJsonEvent(event))
    },
    plan: (plan) => line({ type: "plan", plan }),
    end: ({ end, ...rest }) => line({ type: "end", reason: end.reason, ...rest }),
  }
}

/** The event for JSON, with errors reduced to name and message. */
function toJsonEvent(event: QueryEvent): object {
  if (event.type !== "done" || event.reason !== "error") return event
  const { error, ...rest } = event
  return { ...rest, error: error instanceof Error ? error.name : "Error" }
}

const CHARACTERS_BETWEEN = 500 // a summary streams in small chunks, and one line for each would be too many

/** Filters out events that report only a few more characters of the summary. */
function progressFilter(): (event: QueryEvent) => boolean {
  let reported = 0
  return (event) => {
    if (event.type !== "compaction" || event.progress.phase !== "summarising") return true
    const { characters } = event.progress
    if (characters !== undefined && characters > reported && characters - reported < CHARACTERS_BETWEEN) return false
    reported = characters ?? 0
    return true
  }
}

/** Input of `strata run "/compact …"`, which compacts an earlier conversation or shows the plan, with the events of a query. */
interface CompactRun extends CompactRequest {
  readonly agent: Agent
  readonly signal: AbortSignal
  readonly env: Environment
  readonly showPlan: (plan: CompactionPlan) => void
  readonly notice: (message: string) => void
}

async function* compact(run: CompactRun): AsyncGenerator<QueryEvent, QueryEnd> {
  const { agent, isDryRun, order, signal } = run
  const work = (given: { readonly signal: AbortSignal }) => {
    if (run.clearing) return clear(run, run.clearing)
    return isDryRun ? plan(run) : agent.conversation.compact({ ...order, ...reviewOf(run) }, given)
  }
  const end = compactionRunEnd(yield* compactingEvents({ agent, work, signal }))
  yield { type: "done", turns: 0, ...end }
  return end
}

async function clear({ agent, isDryRun, notice }: CompactRun, order: ClearingTarget): Promise<void> {
  const report = await agent.conversation.clearResults({ ...order, dryRun: isDryRun })
  notice(describeClearing(report, { isDryRun, undo: "strata undo" }))
}

const reviewOf = ({ edits, env }: CompactRun): Pick<ResolvedCompactionRequest, "review"> =>
  edits ? { review: ({ text }) => editText({ text, name: "summary.md", env }) } : {}

async function plan({ agent, order, showPlan }: CompactRun): Promise<void> {
  const planned = await agent.conversation.planCompaction(order)
  if (planned.kind === "refused") throw new CompactionFailedError(planned.why, planned.message)
  showPlan(planned)
}

function compactionRunEnd(end: CompactionEnd): QueryEnd {
  if (end.kind === "given-up")
    return end.error ? { reason: "error", message: end.error.message, error: end.error } : { reason: "aborted" }
  return end.kind === "failed"
    ? { reason: "error", message: end.message, error: end.error }
    : { reason: "answer", text: "" }
}
