/**
 * `strata demo`: an agent works on a scratch copy, and the terminal shows how its window fills and is compacted. A second conversation then
 * uses the memories of the first.
 */

import { relative } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Agent, QueryEnd, QueryEvent } from "@strata/core"
import { hasCredentials } from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import { makeScratch, type Scratch } from "@strata/sim"
import { readArguments } from "../arguments.ts"
import type { CommandCall, Run, Values } from "../command.ts"
import { DEMO } from "../descriptions.ts"
import { summarise } from "../display/ledger.ts"
import { describeEnd, EXIT, exitCodeFor } from "../exit-codes.ts"
import { programCall } from "../program-call.ts"
import { interruptible } from "../run/interruption.ts"
import { endsWithProcess } from "../stored-conversation.ts"
import type { DemoEnvironment } from "./environment.ts"
import { type NextDay, openNextDay, watchMemories } from "./next-day.ts"
import { repositoryToShow } from "./repository.ts"
import { checkRetention } from "./retention-check.ts"
import { type DemoScreen, introduction, openScreen } from "./screen.ts"
import { after, type ConversationMetrics, type DemoState, initialState, stateAtRest } from "./state.ts"
import { summary } from "./summary.ts"
import { CORRECTION, NEXT_DAY_TASK, tasksInTurn, turnsBeforeCorrection, turnsPerTask } from "./tasks.ts"

const DEFAULTS = {
  turns: 80,
  seed: 2,
  window: 60_000, // small enough to fill up several times in a minute
}
/** Pause in milliseconds after an event, so that viewers can follow. */
const VIEWING_PAUSES: Partial<Record<QueryEvent["type"], number>> = {
  request: 90,
  response: 90,
  "tool-result": 50,
  boundary: 300,
  compacted: 800,
}
const TURN_TOLERANCE = 2 // factor, because the simulated model may need more turns than planned for a task of the user
const MAX_TURNS_AT_THE_END = 12 // for the correction, and for the second conversation
const PLANNED_NEXT_DAY = 5 // approximate turns of the second conversation
const READING_PAUSE_MS = 2_000 // milliseconds for a heading or the introduction
const INTERRUPTED = 130

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values } = readArguments(DEMO, args)
  const interruption = interruptible()
  const scratch = makeScratch(repositoryToShow(cwd), { keep: values.keep })
  try {
    return await runDemo({ ...values, scratch, cwd, env, terminal, signal: interruption.signal })
  } finally {
    scratch.remove()
    interruption.stop()
  }
}

interface DemoRun extends Values<typeof DEMO.options>, Pick<CommandCall, "cwd" | "env" | "terminal"> {
  readonly scratch: Scratch
  readonly signal: AbortSignal
}

/** Runs the demo from opening its environment to the summary. Closes everything in any case. */
async function runDemo({ scratch, cwd, env, terminal, signal, ...options }: DemoRun): Promise<number> {
  const { turns = DEFAULTS.turns, seed = DEFAULTS.seed, window = DEFAULTS.window, task } = options
  const started = performance.now()
  const elapsedMs = () => performance.now() - started
  const { MODEL, openDemoEnvironment } = await import("./environment.ts") // loads a tokenizer, which usage errors should not wait for
  const planned = task === undefined ? turnsPerTask(turns) : turns
  const workshop = await openDemoEnvironment({ scratch, turns: planned, seed, window, env })
  const screen = await openScreen(terminal, { elapsedMs })
  const isPaced = terminal.isScreen && !options.fast
  try {
    const agent = await workshop.open("strata demo")
    const first = initialState({ model: MODEL, thresholds: agent.conversation.thresholds, planned: turns })
    screen.say(introduction(scratch, first))
    if (isPaced) await pause(READING_PAUSE_MS, signal)
    const max = task === undefined ? turnsBeforeCorrection(turns) : turns * TURN_TOLERANCE
    const { state, end } = await runTasks({ agent, screen, first, isPaced, signal, task, max, workshop })
    const { location } = agent.conversation
    const { views } = internalsOf(agent.conversation)
    const facts = await checkRetention(agent.conversation, {
      project: workshop.project,
      promptTokens: state.promptTokens ?? 0,
    })
    await agent.close()
    const later = isGood(end) ? await nextDay({ workshop, screen, first, isPaced, signal }) : undefined
    const isInMemory = endsWithProcess(agent.conversation)
    const kept = options.keep && !isInMemory ? { journal: location } : {}
    const outcome = {
      ...{ state, elapsedMs: elapsedMs(), artifacts: views.artifacts, facts, isInMemory, ...kept },
      ...{ strata: programCall({ cwd, env }), hasKey: hasCredentials(env) },
      ...(later ? { nextDay: later } : {}),
    }
    screen.end()
    terminal.print(`\n${summary(outcome, terminal).join("\n")}\n`)
    return exitCode(later?.end ?? end, (sentence) => terminal.complain(`\n${sentence}\n`))
  } finally {
    screen.end()
    await workshop.close()
  }
}

const isGood = ({ reason }: QueryEnd) => reason === "answer" || reason === "max-turns"

interface SecondConversation extends Pick<WatchedAgent, "first" | "isPaced" | "signal"> {
  readonly screen: DemoScreen
  readonly workshop: DemoEnvironment
}

async function nextDay({
  workshop,
  screen,
  ...watched
}: SecondConversation): Promise<NextDay & Pick<TaskSeriesResult, "end">> {
  const { isPaced, signal } = watched
  const first = { ...watched.first, planned: PLANNED_NEXT_DAY }
  const kept = await openNextDay(workshop, screen)
  if (isPaced) await pause(READING_PAUSE_MS, signal)
  workshop.nextDay()
  const agent = await workshop.open("strata demo, the next day")
  const memories = watchMemories(agent, workshop)
  const onEvent = async ({ type }: QueryEvent) => {
    if (type === "request") await memories.show(screen)
  }
  const query = agent.query(NEXT_DAY_TASK, { maxTurns: MAX_TURNS_AT_THE_END, signal })
  const { end } = await watch(query, { ...watched, first, agent, screen, onEvent })
  if (!signal.aborted) await agent.conversation.whenIdle()
  const { views } = internalsOf(agent.conversation)
  const written = [...views.artifacts.files].filter(([, { changes, created }]) => changes > 0 || created)
  return {
    ...{ kept, used: memories.used, end, spent: summarise(views.ledger) },
    written: written.map(([path]) => relative(workshop.project, path)),
  }
}

interface WatchedAgent {
  readonly agent: Agent
  readonly screen: Pick<DemoScreen, "show">
  /** Called before each event is shown. */
  readonly onEvent?: (event: QueryEvent) => Promise<void>
  readonly first: DemoState
  readonly isPaced: boolean
  readonly signal: AbortSignal
}

interface TaskSeries extends WatchedAgent {
  readonly workshop: DemoEnvironment
  /** Text of `--task`, which replaces the built-in tasks. */
  readonly task: string | undefined
  /** Maximum turns for all tasks, without the correction. */
  readonly max: number
}

interface TaskSeriesResult {
  readonly state: DemoState
  readonly end: QueryEnd
}

/** Runs tasks until the turns are used up. Then the simulated user corrects the agent. */
export async function runTasks({ task, max, workshop, ...watched }: TaskSeries): Promise<TaskSeriesResult> {
  const { agent, signal } = watched
  let seen: TaskSeriesResult = { state: watched.first, end: { reason: "aborted" } }
  const say = async (text: string, maxTurns: number) => {
    seen = await watch(agent.query(text, { maxTurns, signal }), { ...watched, first: seen.state })
  }
  for (const next of task === undefined ? tasksInTurn() : [task]) {
    await say(next, max - seen.state.turn)
    if (seen.end.reason !== "answer" || seen.state.turn >= max) break
  }
  if (isGood(seen.end)) {
    workshop.shortenTasks()
    await say(CORRECTION, MAX_TURNS_AT_THE_END)
  }
  if (!signal.aborted) await agent.conversation.whenIdle() // the cost includes unfinished background work
  return { ...seen, state: stateAtRest(seen.state, readMetrics(agent)) }
}

async function watch(
  query: AsyncGenerator<QueryEvent, QueryEnd>,
  { agent, screen, first, isPaced, signal, onEvent }: WatchedAgent,
): Promise<TaskSeriesResult> {
  const boundary = boundaryCounter(agent)
  let state = first
  for (;;) {
    const { value, done } = await query.next()
    if (done) return { state, end: value }
    if (value.type === "error") value.take() // the final event reports the error
    await onEvent?.(value)
    state = after(state, { event: value, measure: () => ({ ...readMetrics(agent), boundary: boundary() }) })
    screen.show(state, value)
    const ms = isPaced ? (VIEWING_PAUSES[value.type] ?? 0) : 0
    if (ms > 0) await pause(ms, signal)
  }
}

/** Waits, or returns at once if interrupted. */
const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => undefined)

/** Counts the messages of the newest compaction, which no event contains. */
function boundaryCounter({ conversation: chat }: Agent): () => ConversationMetrics["boundary"] {
  let last: ConversationMetrics["boundary"]
  chat.on("entry", ({ entry }) => {
    if (entry.type !== "system" || !entry.compactMetadata) return
    const { messagesSummarized = 0, preservedMessages } = entry.compactMetadata
    last = { summarised: messagesSummarized, kept: preservedMessages?.uuids.length ?? 0 }
  })
  return () => last
}

function readMetrics({ conversation: chat }: Agent): ConversationMetrics {
  const { context, ledger, notes } = internalsOf(chat).views
  return {
    accounting: chat.accounting(),
    size: context.size(),
    fill: chat.windowUsage(),
    spent: summarise(ledger),
    notesTokens: notes.tokens ?? 0,
    promptEstimate: context.promptTokens,
  }
}

/** Reaching `--turns` is the normal end of the demo, not a failure. */
export function exitCode(end: QueryEnd, complain: (sentence: string) => void): number {
  if (end.reason === "max-turns") return EXIT.answer
  if (end.reason === "aborted") {
    complain("Stopped. The scratch copy is removed.")
    return INTERRUPTED
  }
  const sentence = describeEnd(end)
  if (sentence !== undefined) complain(sentence)
  return exitCodeFor(end)
}
